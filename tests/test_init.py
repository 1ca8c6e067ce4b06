import subprocess
import sys


def python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_the_packages_are_there_after_a_plain_import():
    code = "import headgauge; print(headgauge.normalizers.get('entmax', alpha=1.5).name)"
    assert python(code) == "entmax"
    assert python("import headgauge; print(headgauge.theory.coverage.heads_needed(.8, .99))") == "3"


def test_a_plain_import_does_not_bring_torch():
    assert python("import headgauge, sys; print('torch' in sys.modules)") == "False"


def test_an_unknown_attribute_is_an_attribute_error():
    assert python("import headgauge; print(hasattr(headgauge, 'nonsense'))") == "False"
