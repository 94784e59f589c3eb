// Opens the data directories that svcd 0.1.0 wrote with an installed svcd, and compares its answers with those of 0.1.0.
// Usage: use-old-directory.mjs SVCD, after `npm run build`

import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { gunzipSync } from "node:zlib"
import { flagsOf } from "../build/scripts/crash/DaemonProcess.js"
import { RpcClient } from "../build/scripts/crash/rpc.js"
import { unpack } from "../build/scripts/upgrade/archive.js"
import { SECOND } from "../build/scripts/upgrade/fill.js"
import { FIXTURE_FLAGS, recordedAnswer } from "../build/scripts/upgrade/questions.js"
import { freePort } from "./packed-daemon.mjs"

const program = process.argv[2] ?? ""

const fixture = (name) => readFileSync(new URL(`../test/fixtures/data-directory-0.1.0/${name}`, import.meta.url))

const answers = JSON.parse(gunzipSync(fixture("answers.json.gz")).toString("utf8"))

const untilReady = async (port, node) => {
  for (const end = Date.now() + 60_000;; await sleep(100)) {
    assert.equal(node.exitCode, null, "svcd ended")
    assert.ok(Date.now() < end, "svcd was not ready after a minute")
    if ((await fetch(`http://127.0.0.1:${port}/ready`).catch(() => undefined))?.status === 200) return
  }
}

const otherAnswers = async (port, recorded) => {
  const clients = { "": new RpcClient(port), [SECOND]: new RpcClient(port, SECOND) }
  const others = []
  for (const { answer, question, wallet } of recorded) {
    const now = recordedAnswer(question, await clients[wallet].ask(question))
    if (now !== answer) others.push(`${wallet} ${JSON.stringify(question)}: ${now} and not ${answer}`)
  }
  return others
}

const place = mkdtempSync(join(tmpdir(), "svcd-ci-"))
try {
  unpack(fixture("directories.br"), place)
  for (const [kind, recorded] of Object.entries(answers)) {
    const port = await freePort()
    const flags = [...flagsOf(join(place, kind), port), "-loglevel", "error", ...FIXTURE_FLAGS]
    const node = spawn(program, flags, { stdio: "inherit" })
    const ended = once(node, "exit")
    try {
      await untilReady(port, node)
      assert.deepEqual(await otherAnswers(port, recorded), [])
    } finally {
      node.kill("SIGTERM")
    }
    assert.deepEqual(await ended, [0, null])
    console.log(`a data directory of 0.1.0 (${kind}): ${recorded.length} answers are the same`)
  }
} finally {
  rmSync(place, { force: true, recursive: true })
}
