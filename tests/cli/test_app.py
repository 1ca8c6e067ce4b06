import pytest

import headgauge


def test_version(cli):
    assert cli("--version") == (0, f"headgauge {headgauge.__version__}\n", "")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["claims", "99"], "there is no claim '99'"),
        (["claims", "11", "12"], "unexpected extra argument"),
        (["claims", "--colour"], "No such option: --colour (headgauge claims --help lists what"),
        (["scan", "--lenght", "9"], "No such option: --lenght (Possible options: --length"),
        (["scan", "--lenght", "9"], "(headgauge scan --help lists what there is)"),
        (["scan", "--length"], "requires an argument. (headgauge scan --help lists what there is)"),
        (["scan", "--length", "few"], "for '--length'"),
        (["scan", "--length", "few"], "(headgauge scan --help lists what there is)"),
        (["report"], "Missing argument 'folder'. (headgauge report --help lists what there is)"),
        (["normaliser"], "No such command 'normaliser'. Did you mean 'normalizers'?"),
        (["--nonsense"], "(headgauge --help lists what there is)"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(cli, arguments, line):
    code, out, err = cli(*arguments)
    assert code == 2
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("headgauge: ")
    assert line.lower() in err.lower()


@pytest.mark.parametrize("arguments", [["--help"], ["claims", "-h"], ["normalizers", "--help"]])
def test_help(cli, arguments):
    code, out, _ = cli(*arguments)
    assert code == 0
    assert "Usage: headgauge" in out


def test_no_arguments_show_the_commands(cli):
    code, out, err = cli()
    assert code == 2
    assert "claims" in out + err
    assert "normalizers" in out + err
