"""What a prefix cache would have held, against one that is followed block by block, and by hand."""

import io
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simcore.traces import TraceError, read_trace
from simcore.traces.inspect import inspect
from simcore.traces.prefix_cache import PromptBlocks, cached_tokens, shares, with_prefix_cache

PROMPTS = st.lists(st.tuples(st.integers(1, 4000), st.lists(st.integers(0, 5), max_size=8)), min_size=1, max_size=30)


def blocks_of(*ids: list[int]) -> PromptBlocks:
    flat = [one for own in ids for one in own]
    return PromptBlocks(np.array(flat, np.int64), np.array([len(own) for own in ids], np.int64))


def followed(prompts: list[tuple[int, list[int]]], most_blocks: int) -> list[int]:
    """The rule in plain Python: a list of blocks, the one used last at its end."""
    held: list[int] = []
    found = []
    for tokens, ids in prompts:
        own = ids[: tokens // 512]
        hits = 0
        while hits < len(own) and own[hits] in held:
            hits += 1
        found.append(min(512 * hits, tokens - 1))
        for block in reversed(own):
            held = [one for one in held if one != block] + [block]
        held = held[max(len(held) - most_blocks, 0) :]
    return found


@given(PROMPTS, st.integers(1, 8))
def test_the_least_recently_used_block_goes(prompts: list[tuple[int, list[int]]], most_blocks: int) -> None:
    tokens = np.array([one for one, _ in prompts], np.int64)
    blocks = blocks_of(*(ids for _, ids in prompts))
    assert cached_tokens(tokens, blocks, most_blocks * 512).tolist() == followed(prompts, most_blocks)
    assert cached_tokens(tokens, blocks, None).tolist() == followed(prompts, 10**6)


def test_a_larger_cache_holds_no_less_of_a_conversation() -> None:
    turns = [list(range(10 * user, 10 * user + turn)) for turn in range(1, 6) for user in range(40)]
    tokens = np.array([512 * len(own) + 100 for own in turns], np.int64)
    found = [one["share"] for one in shares(tokens, blocks_of(*turns))]
    assert found == sorted(found)
    assert found[-1] == pytest.approx(512 * 40 * (1 + 2 + 3 + 4) / tokens.sum())


LINES = [
    {"timestamp": 3000, "input_length": 1100, "output_length": 3, "hash_ids": [1, 2, 3]},
    {"timestamp": 0, "input_length": 1030, "output_length": 3, "hash_ids": [1, 2, 9]},
    {"timestamp": 1000, "input_length": 0, "output_length": 3, "hash_ids": [7, 7]},
    {"timestamp": 4000, "input_length": 1024, "output_length": 3, "hash_ids": [1, 2]},
    {"timestamp": 5000, "input_length": 2000, "output_length": 3},
    {"timestamp": 6000, "input_length": 2000, "output_length": 3, "hash_ids": ["a"]},
    {"timestamp": 7000, "input_length": 700, "output_length": 3, "hash_ids": [1, 2**80]},
]
DATA = "".join(json.dumps(line) + "\n" for line in LINES).encode()


def test_blocks_follow_their_requests_into_the_order_of_arrival() -> None:
    trace, report = read_trace(io.BytesIO(DATA), "t", with_blocks=True)
    cached = with_prefix_cache(trace, report.blocks, None, report)
    assert trace.cached_prompt_tokens.tolist() == [0] * 6
    assert cached.cached_prompt_tokens.tolist() == [0, 1024, 1023, 0, 0, 0]
    assert report.to_json()["prefix_cache"] == {
        "cache_tokens": None,
        "block_tokens": 512,
        "cached_prompt_tokens": 2047,
        "share": 2047 / 7854,
    }


def test_unasked_no_blocks_are_read_and_nothing_is_cached() -> None:
    _, report = read_trace(io.BytesIO(DATA), "t")
    assert (report.blocks, report.to_json()["prefix_cache"]) == (None, None)


def test_a_file_without_blocks_says_so() -> None:
    trace, report = read_trace(io.BytesIO(b"arrival_s,prompt_tokens,output_tokens\n0,5,5\n"), "t", with_blocks=True)
    with pytest.raises(TraceError, match="found no hash_ids, expected Mooncake's"):
        with_prefix_cache(trace, report.blocks, None, report)


def test_inspect_writes_the_trace_that_it_describes(tmp_path: object) -> None:
    source, out = f"{tmp_path}/t.jsonl", f"{tmp_path}/out.csv"
    with open(source, "wb") as file:
        file.write(DATA)
    told = inspect(source, prefix_cache=1024, out=out)
    assert told["statistics"]["cached_prompt_tokens"] == told["prefix_cache"]["cached_prompt_tokens"] == 2047
    assert [one["cache_tokens"] for one in told["prefix_cache_shares"]][-2:] == [64_000_000, None]
    assert read_trace(out)[0].content_hash() == told["content_hash"]
