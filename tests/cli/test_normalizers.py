import json

from headgauge import normalizers


def test_the_table_lists_every_rule(cli):
    code, out, err = cli("normalizers")
    assert code == 0
    for name in normalizers.names():
        assert f" {name} " in out
        for parameter in normalizers.describe(name).parameters:
            assert f":{parameter}=" in out
    assert "can be fitted: beta, gamma, delta" in " ".join(out.replace("│", " ").split())
    assert "…" not in out
    assert "\x1b" not in out
    assert err
    assert cli("normalizers", "--quiet")[2] == ""


def test_json_has_the_facts(cli):
    code, out, _ = cli("normalizers", "--json")
    data = {rule["name"]: rule for rule in json.loads(out)}
    assert code == 0
    assert list(data) == normalizers.names()
    assert data["sparsemax"]["sparse"]
    assert data["sparsemax"]["sums_to_one"]
    assert not data["sparsemax"]["form_f"]
    assert data["ssmax"]["uses_length"]
    assert data["entmax"]["parameters"] == {"alpha": 1.5}
    fit = {"low": 0.1, "high": 10.0, "scale": "log", "unchanged": 1.0, "least": 1e-6, "most": None}
    assert data["topk"]["fits"] == {"temperature": fit}
    assert data["topk"]["written"] == "topk:k=8:temperature=1"
    keys = {"formula", "source", "jacobian_bound"}
    assert all(rule[key] for rule in data.values() for key in keys)
