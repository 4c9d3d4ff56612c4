from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import env_ids

from spade_envs.contract import EnvId, Finding, near_matches


@given(env_ids)
def test_text_of_an_id_reads_back(env_id: EnvId) -> None:
    assert EnvId.parse(str(env_id)) == env_id


@given(st.text(max_size=20))
def test_whatever_parses_is_spelt_as_it_prints(text: str) -> None:
    parsed = EnvId.parse(f"spade/{text}")
    assert isinstance(parsed, Finding) or str(parsed) == f"spade/{text}"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "VaultKeypad-v0",
        "spade/VaultKeypad",
        "spade/vault_keypad-v0",
        "spade/VaultKeypad-v1.2",
        "spade/VaultKeypad-v01",
        "spade/VaultKeypad-v-1",
        "spade/VaultKeypad-v\u0661",  # a digit, but not an ASCII one
        "spade/VaultKeypad-v0\n",
        "spade/games/VaultKeypad-v0",
        "gym/VaultKeypad-v0",
        "spade/../Vault-v0",
        "spade/" + "A" * 61 + "-v0",
    ],
)
def test_other_spellings_are_refused_with_the_form(text: str) -> None:
    finding = EnvId.parse(text)
    assert isinstance(finding, Finding)
    assert "spade/<Name>-v<N>" in finding.remedy


def test_an_impossible_id_cannot_be_made() -> None:
    with pytest.raises(ValueError, match="spade/<Name>"):
        EnvId("VaultKeypad", -1)


def test_ids_order_by_name_then_by_number() -> None:
    ids = [EnvId("B", 2), EnvId("A", 10), EnvId("A", 9)]
    assert sorted(ids) == [EnvId("A", 9), EnvId("A", 10), EnvId("B", 2)]


KNOWN = ["spade/VaultKeypad-v0", "spade/VaultKeypad-v1", "spade/RefundDesk-v0", "spade/FogMaze-v0"]


@pytest.mark.parametrize("text", ["spade/vault-keypad-v0", "spade/vault_keypad-V0", "SPADE/VAULTKEYPADV0"])
def test_case_and_dashes_do_not_hide_the_word_that_was_meant(text: str) -> None:
    assert near_matches(text, KNOWN)[0] == "spade/VaultKeypad-v0"


def test_near_matches_forgive_letters_and_know_when_nothing_is_near() -> None:
    assert near_matches("spade/RefundDesc-v0", KNOWN)[0] == "spade/RefundDesk-v0"
    assert set(near_matches("spade/VaultKeypad-v7", KNOWN)[:2]) == set(KNOWN[:2])
    assert near_matches("q", KNOWN) == []
