import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { replaceTime } from "../../../src/base/clock.ts"
import { decodeBlock } from "../../../src/protocol/block.ts"
import { fromHex, toHex } from "../../../src/protocol/bytes.ts"
import { fixtureBlocks } from "../../support/chainFixture.ts"
import { fixtureText } from "../../support/fixtures.ts"
import { proofOf } from "../../support/nameProofs.ts"
import { text } from "../../support/regtest.ts"
import { withDirectoryAsync } from "../../support/temporary.ts"
import { runAlone, runWith } from "./commandRun.ts"

const NAME = "d/kelp38c6"

const CHAIN = { network: "regtest", low: 0, blocks: fixtureBlocks("regtest-names/blocks.dat") } as const

const PROOF = proofOf(CHAIN, text(NAME))

const ABSENCE = {
  svcd: "name-absence/1",
  network: "regtest",
  name: toHex(text("d/nobody")),
  absent: { from: 0, to: 7 },
  asOf: { height: 7, hash: "00".repeat(32) }
}

const verify = (argv: ReadonlyArray<string>, stdin?: string) =>
  runAlone(["verify-proof", "-network=regtest", ...argv], stdin === undefined ? undefined : Effect.succeed(stdin))

describe("svcd-cli proof and verify-proof", () => {
  it.effect("make a proof with the daemon, and verify it without", () =>
    Effect.promise(() =>
      withDirectoryAsync((directory) =>
        Effect.runPromise(Effect.gen(function*() {
          const file = join(directory, "proof.json")
          const { run, sent } = runWith({ name_proof: PROOF })
          const made = yield* run("proof", NAME, "-headers", "12", "-chain", "-out", file)
          assert.match(made.stdout, /proof\.json: [\d,]+ bytes, 1 operation, 7 headers\n$/)
          assert.strictEqual(made.code, 0)
          assert.match(made.stderr, /note: the proof has no operation before block \d+: the node lacks its block/)
          const complete = runWith({ name_proof: proofOf(CHAIN, text(NAME), { whole: true }) })
          assert.strictEqual((yield* complete.run("proof", NAME, "-chain")).stderr, "")
          const [params] = sent("name_proof")
          assert.strictEqual(JSON.stringify(params).includes(toHex(text(NAME))), true)
          const printed = yield* run("proof", NAME)
          assert.strictEqual(printed.stdout, readFileSync(file, "utf8"))
          const shown = yield* verify([file])
          assert.strictEqual(shown.code, 0, shown.stderr)
          assert.match(shown.stdout, /^Name {6}d\/kelp38c6\nValue /)
          assert.include((yield* verify(["-"], printed.stdout)).stdout, shown.stdout)
          const { stdout } = yield* verify([file, "-json"])
          assert.deepInclude(JSON.parse(stdout), { valid: true, name: NAME })
          writeFileSync(file, "x".repeat(2_100_000))
          assert.include((yield* verify([file])).stderr, "is longer than a proof")
        }))
      )
    ))

  it.effect("name what is wrong with a proof, and end with status 1", () =>
    Effect.gen(function*() {
      const stdin = JSON.stringify({ ...PROOF, name: "00" })
      const failed = yield* verify(["-"], stdin)
      assert.deepInclude(failed, { code: 1, stdout: "" })
      assert.include(failed.stderr, "the proof is not valid: output 0 has another name")
      assert.include(
        (yield* verify(["-", "-confirmations", "9"], JSON.stringify(PROOF))).stderr,
        "7 of 9 confirmations\nTo make one with more blocks: \"svcd-cli proof NAME -headers 8\"."
      )
      assert.include(
        (yield* verify(["-", "-confirmations", "26"], JSON.stringify(PROOF))).stderr,
        "\nA proof shows at most 25."
      )
      assert.deepInclude(JSON.parse((yield* verify(["-json", "-"], stdin)).stdout), { valid: false })
      assert.include(
        (yield* runAlone(["verify-proof", "-"], Effect.succeed(JSON.stringify(PROOF)))).stderr,
        "not main\nTo verify a proof of regtest, write -network regtest."
      )
      assert.include((yield* verify(["/nowhere/proof.json"])).stderr, "cannot be read")
    }))

  it.effect("say what to do about a proof that is old, or ahead of the clock", () =>
    Effect.gen(function*() {
      const block = decodeBlock(fromHex(fixtureText("mainnet-blocks/210000.hex").trim()) ?? assert.fail())
      const stdin = JSON.stringify(proofOf({ network: "main", low: 210_000, blocks: [block] }, text("d/calm")))
      /** What svcd-cli says so many seconds after the block. */
      const saidAfter = (seconds: number) =>
        Effect.acquireUseRelease(
          Effect.sync(() =>
            replaceTime({ monotonic: () => performance.now(), wallTime: () => 1000 * (block.header.time + seconds) })
          ),
          () => Effect.map(runAlone(["verify-proof", "-"], Effect.succeed(stdin)), ({ stderr }) => stderr),
          (time) => Effect.sync(() => replaceTime(time))
        )
      assert.match(
        yield* saidAfter(2 * 86_400),
        /older than a day\nTo make a proof of today: "svcd-cli proof NAME"\.\n$/
      )
      assert.match(yield* saidAfter(-3 * 3600), /from the future\nCheck the clock of this machine\.\n$/)
    }))

  it.effect("print no proof of a name that does not exist", () =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* runWith({ name_proof: ABSENCE }).run("proof", "d/nobody")
      assert.deepStrictEqual({ code, stdout }, { code: 1, stdout: "" })
      assert.include(stderr, "d/nobody does not exist, and that cannot be proven")
    }))

  it.effect("say no name does not exist because of an answer that is neither proof nor denial", () =>
    Effect.gen(function*() {
      for (
        const [answer, reason] of [
          [{ ...ABSENCE, absent: {} }, "the name-absence/1 has another form"],
          [{ ...ABSENCE, name: "00" }, "the document is about another name"],
          [PROOF, "the document is about another name"],
          [{ ...PROOF, svcd: "name-proof/2" }, "the proof is not a name-proof/1"],
          [{}, "the proof is not a name-proof/1"]
        ] as const
      ) {
        const { code, stderr, stdout } = yield* runWith({ name_proof: answer }).run("proof", "d/nobody")
        assert.deepStrictEqual({ code, stdout }, { code: 1, stdout: "" })
        assert.include(stderr, `the daemon's proof is invalid: ${reason}`)
      }
    }))
})
