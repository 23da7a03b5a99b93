"""The Airflow operator of docs/spark.md. Without Airflow, all of it runs but the class that Airflow defines.

With Airflow installed, the class runs too. It is not part of the extra `dev`, since its pins are those of a server.
"""

from __future__ import annotations

import ast
import re
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "spark.md"
COUNTS = '{"read": 3, "outcomes": {"release": 2, "review": 1}}'


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    """The names that the file of the page defines."""
    (code,) = re.findall(r'^```python title="dags/incognote_operator.py"\n(.*?)^```', PAGE.read_text(), re.S | re.M)
    tree = ast.parse(code)
    if find_spec("airflow") is None:
        tree.body = [
            one for one in tree.body
            if not (isinstance(one, ast.ClassDef) or (isinstance(one, ast.ImportFrom) and one.module == "airflow.sdk"))
        ]  # fmt: skip
    made: dict[str, Any] = {}
    exec(compile(tree, PAGE.name, "exec"), made)
    return made


def command(code: int, said: str = "") -> list[str]:
    return [sys.executable, "-c", f"import sys; print({said!r}); sys.exit({code})"]


@pytest.mark.parametrize("code", [0, 3])
def test_a_job_that_ended_gives_its_counts_also_where_records_are_held(names: dict[str, Any], code: int) -> None:
    assert names["run_job"](command(code, COUNTS))["outcomes"]["review"] == 1


@pytest.mark.parametrize("code", [1, 2, 130])
def test_a_job_that_failed_fails_the_task(names: dict[str, Any], code: int) -> None:
    with pytest.raises(RuntimeError, match=f"exit code {code}"):
        names["run_job"](command(code))


def test_more_held_records_than_allowed_fail_the_task(names: dict[str, Any]) -> None:
    with pytest.raises(RuntimeError, match="1 of 3 records"):
        names["run_job"](command(3, COUNTS), most_held=0.2)


def test_the_arguments_of_the_page_are_those_of_the_command(names: dict[str, Any]) -> None:
    from incognote.spark.__main__ import parser

    words = names["COMMAND"]
    assert words[:3] == ["python", "-m", "incognote.spark"]
    asked = parser().parse_args(words[3:])
    assert asked.json


def test_the_operator_runs_under_airflow_if_that_is_installed(names: dict[str, Any]) -> None:
    if find_spec("airflow") is None:
        assert "IncognoteOperator" not in names  # run in an environment with Airflow: see docs/spark.md
        return
    operator = names["IncognoteOperator"](task_id="notes", command=command(3, COUNTS))
    assert operator.execute({})["read"] == 3
