from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def fixtures() -> Path:
    return ROOT / "Fixtures"


@pytest.fixture
def delays(fixtures: Path) -> Path:
    return fixtures / "Demo" / "variable-delay.gif"
