"""The same work as crannog's benchmarks, done by openai-agents' UnixLocal client.

    reference.py CASE [ARGUMENT...]

Prints one JSON object when it is ready and one after each line that comes on stdin; ends with stdin. One case, one process: what an earlier
case left in memory or in a thread pool would be measured with the next.
"""

import asyncio
import contextlib
import json
import os
import resource
import sys
import time

from agents.sandbox.sandboxes.unix_local import UnixLocalSandboxClient
from agents.sandbox.util.token_truncation import formatted_truncate_text_with_token_count

BUDGET_TOKENS = 10_000
# The longest window there is: everything here ends earlier by itself.
WINDOW_S = 30.0
# The shortest window there is.
WINDOW_S_MIN = 0.25
# A start that has not answered by then never will.
START_PATIENCE_S = 5.0
IDLE_S = 10.0


@contextlib.asynccontextmanager
async def live_session():
    client = UnixLocalSandboxClient()
    session = await client.create()
    await session.start()
    try:
        yield session
    finally:
        await session.pty_terminate_all()
        await session.aclose()
        await client.delete(session)


async def timed(awaitable):
    began = time.perf_counter()
    answer = await awaitable
    return (time.perf_counter() - began) * 1e3, answer


def resident_bytes():
    with open("/proc/self/smaps_rollup") as rollup:
        return next(int(line.split()[1]) * 1024 for line in rollup if line.startswith("Rss:"))


def peak_bytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def flood_text(count):
    """The program that crannog's cases flood with, too."""
    return f"yes 'the quick brown fox jumps over the lazy dog, again and again and again' | head -c {count}"


@contextlib.asynccontextmanager
async def create():
    client = UnixLocalSandboxClient()

    async def create_and_start():
        session = await client.create()
        await session.start()
        return session

    async def close(session):
        await session.pty_terminate_all()
        await session.aclose()
        await client.delete(session)

    async def sample():
        create_ms, session = await timed(create_and_start())
        destroy_ms, _ = await timed(close(session))
        return {"create_ms": create_ms, "destroy_ms": destroy_ms}

    # The first start of a process imports things for 300 ms.
    await sample()
    yield sample


@contextlib.asynccontextmanager
async def execute(form):
    async with live_session() as session:

        async def sample():
            ms, result = await timed(session.exec("true", shell=form == "shell"))
            assert result.exit_code == 0
            return {"ms": ms}

        yield sample


@contextlib.asynccontextmanager
async def first_byte(connection):
    # A start answers at the end of the process or of the window, never at the first byte: with a process that ends at once it does its best.
    async with live_session() as session:

        async def sample():
            ms, update = await timed(session.pty_exec_start("echo hi", tty=connection == "terminal", yield_time_s=WINDOW_S))
            assert b"hi" in update.output, update
            return {"ms": ms}

        yield sample


@contextlib.asynccontextmanager
async def echo():
    async with live_session() as session:
        started = await session.pty_exec_start("cat", tty=True, yield_time_s=WINDOW_S_MIN)

        async def sample():
            ms, update = await timed(
                session.pty_write_stdin(session_id=started.process_id, chars="x\n", yield_time_s=WINDOW_S_MIN)
            )
            assert update.output.count(b"x") == 2, update
            return {"ms": ms}

        yield sample


@contextlib.asynccontextmanager
async def flood(connection, count):
    async with live_session() as session:

        async def sample():
            before, cpu = resident_bytes(), time.process_time()
            ms, update = await timed(
                session.pty_exec_start(
                    flood_text(int(count)), tty=connection == "terminal", yield_time_s=WINDOW_S, max_output_tokens=BUDGET_TOKENS
                )
            )
            # The window is no bound here: cutting the text comes after it.
            return {
                "ms": ms,
                "cpu_ms": (time.process_time() - cpu) * 1e3,
                "growth_bytes": peak_bytes() - before,
                "complete": update.exit_code is not None,
            }

        yield sample


@contextlib.asynccontextmanager
async def idle(wanted):
    async with live_session() as session:

        async def start():
            await session.pty_exec_start("cat", tty=True, yield_time_s=WINDOW_S_MIN)

        async def sample():
            before, started = resident_bytes(), 0
            with contextlib.suppress(asyncio.TimeoutError):
                for _ in range(int(wanted)):
                    await asyncio.wait_for(start(), START_PATIENCE_S)
                    started += 1
            resident = resident_bytes() - before
            cpu = time.process_time()
            await asyncio.sleep(IDLE_S)
            return {"started": started, "growth_bytes": resident, "cpu_ms": (time.process_time() - cpu) * 1e3}

        yield sample


@contextlib.asynccontextmanager
async def crowd(sessions, count):
    async with live_session() as session:

        async def one():
            return await session.pty_exec_start(
                flood_text(int(count)), tty=True, yield_time_s=WINDOW_S, max_output_tokens=BUDGET_TOKENS
            )

        async def sample():
            floods = [asyncio.create_task(one()) for _ in range(int(sessions))]
            began, exec_ms = time.perf_counter(), []
            while not all(flood.done() for flood in floods):
                ms, _ = await timed(session.exec("true"))
                exec_ms.append(ms)
            seconds = time.perf_counter() - began
            complete = sum(flood.result().exit_code is not None for flood in floods)
            return {"ms": seconds * 1e3, "complete": complete, "exec_ms": exec_ms}

        yield sample


@contextlib.asynccontextmanager
async def truncation(path):
    with open(path, encoding="utf-8", newline="") as file:
        text = file.read()

    async def sample():
        began = time.perf_counter()
        shown, _ = formatted_truncate_text_with_token_count(text, BUDGET_TOKENS)
        ms = (time.perf_counter() - began) * 1e3
        return {"ms": ms, "shown_bytes": len(shown.encode())}

    yield sample


CASES = {
    "create": create,
    "exec": execute,
    "first-byte": first_byte,
    "echo": echo,
    "flood": flood,
    "idle": idle,
    "crowd": crowd,
    "truncation": truncation,
}


async def main(case, *arguments):
    async with CASES[case](*arguments) as sample:
        print(json.dumps({"ready": True, "pid": os.getpid()}), flush=True)
        # Read here and not on a thread: the pool is part of what is measured.
        while sys.stdin.readline():
            print(json.dumps(await sample()), flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
    # Threads that read terminals nobody closes would keep the process.
    sys.stdout.flush()
    os._exit(0)
