import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { replaceEventLoop } from "../../../src/base/turns.ts"
import { BlockUnavailable } from "../../../src/chain/errors.ts"
import { evidenceInChain } from "../../../src/names/chainEvidence.ts"
import { unprovable } from "../../../src/names/errors.ts"
import { Block } from "../../../src/protocol/block.ts"
import { displayHash, equal, toHex } from "../../../src/protocol/bytes.ts"
import { isFailure, type NameProof, parseNameProof } from "../../../src/verify/nameProof.ts"
import { signatures } from "../../../src/verify/signatures.ts"
import { verifyNameProof } from "../../../src/verify/verifyNameProof.ts"
import { fixtureBlocks } from "../../support/chainFixture.ts"
import { layer } from "../../support/layer.ts"
import { ManualClock } from "../../support/manualClock.ts"
import { MethodNode, methodNode } from "../../support/methodNode.ts"
import { text } from "../../support/regtest.ts"

const HEX = { nameEncoding: "hex", valueEncoding: "hex" }

const blocks = fixtureBlocks("regtest-names/blocks.dat")
const TIP = blocks.length - 1
const NOW = (blocks.at(-1)?.header.time ?? 0) + 60

const READER = { network: "regtest", now: NOW, signatures } as const

interface Shown {
  readonly name: string
  readonly value: string
  readonly height: number
  readonly txid: string
  readonly vout: number
  readonly expired: boolean
  readonly expires_in: number
}

const isShown = (row: unknown): row is Shown => typeof row === "object" && row !== null && "expires_in" in row

const namesNow = Effect.gen(function*() {
  const { call } = yield* MethodNode
  const { value } = yield* call("name_scan", "", 1000, HEX)
  return Array.isArray(value) ? value.filter(isShown) : assert.fail("no list")
})

/** The proof that the node makes, read from its text. */
const proofOf = (name: string, options: object = {}) =>
  Effect.gen(function*() {
    const { call } = yield* MethodNode
    const { text: json } = yield* call("name_proof", name, { nameEncoding: "hex", ...options })
    const proof = parseNameProof(json)
    return isFailure(proof) ? assert.fail(proof.failed) : proof
  })

const heightsOf = ({ operations }: NameProof): ReadonlyArray<number> => operations.map(({ height }) => height)

const LIVING = "d/kelp38c6"

layer(methodNode())("portable proofs", (it) => {
  it.effect("prove the record of every living name to a reader without a chain", () =>
    Effect.gen(function*() {
      const names = yield* namesNow
      const living = names.filter(({ expired }) => !expired)
      assert.isAbove(living.length, 20)
      for (const { expires_in, height, name, txid, value, vout } of living) {
        const verified = verifyNameProof(yield* proofOf(name), READER)
        assert.deepInclude(verified, { nameHex: name, valueHex: value, height, txid, vout, expiresIn: expires_in })
      }
    }))

  it.effect("reach the registration with chain, and show that each owner signed", () =>
    Effect.gen(function*() {
      const { call } = yield* MethodNode
      const lengths = new Set<number>()
      let signed = 0
      for (const { expired, name } of yield* namesNow) {
        if (expired) continue
        const proof = yield* proofOf(name, { chain: true })
        const { value: history } = yield* call("name_history", name, HEX)
        const heights = Array.isArray(history) ? history.filter(isShown).map(({ height }) => height).toReversed() : []
        assert.deepStrictEqual(heightsOf(proof), heights.slice(0, proof.operations.length))
        assert.strictEqual(heightsOf(proof).at(-1), proof.since)
        const { signatures: _, ...unsigned } = READER
        assert.deepInclude(verifyNameProof(proof, unsigned), { since: proof.since, problems: [], proof: "buried" })
        const verified = verifyNameProof(proof, READER)
        if (isFailure(verified)) return assert.fail(verified.failed)
        // Taproot signatures cover coins that a proof does not have.
        const isUnknown = verified.problems.some(({ code }) => code === "unsigned-owner")
        assert.strictEqual(verified.proof, proof.operations.length > 1 && !isUnknown ? "signatures" : "buried")
        if (!isUnknown) signed++
        lengths.add(proof.operations.length)
      }
      assert.isAbove(Math.max(...lengths), 2)
      assert.isAbove(signed, 20)
    }))

  it.effect("have as many headers as asked for, up to the tip", () =>
    Effect.gen(function*() {
      for (const { expired, height, name } of (yield* namesNow).slice(0, 150)) {
        if (expired) continue
        for (const headers of [0, 6, 24]) {
          const { operations: [newest, ...earlier] } = yield* proofOf(name, { headers, chain: true })
          assert.strictEqual(newest?.headers.length, 1 + Math.min(headers, TIP - height))
          assert.isTrue(earlier.every((operation) => operation.headers.length === 1))
        }
      }
      assert.strictEqual((yield* proofOf(toHex(text(LIVING)))).operations[0]?.headers.length, 7)
    }))

  it.effect("of an expired name say so to the reader", () =>
    Effect.gen(function*() {
      for (const { expired, expires_in, name } of (yield* namesNow).slice(0, 60)) {
        if (!expired) continue
        assert.deepStrictEqual(verifyNameProof(yield* proofOf(name), READER), {
          failed: `the name expired ${-expires_in} blocks ago`,
          code: "expired"
        })
      }
    }))

  it.effect("follow a reorganization", () =>
    Effect.gen(function*() {
      const { call } = yield* MethodNode
      const name = toHex(text(LIVING))
      const before = yield* proofOf(name, { chain: true })
      const [height = 0, earlier = 0] = heightsOf(before)
      yield* call("invalidateblock", (yield* call("getblockhash", height)).value)
      const during = yield* proofOf(name, { chain: true })
      assert.strictEqual(during.asOf.height, height - 1)
      assert.deepStrictEqual(heightsOf(during), heightsOf(before).slice(1))
      const verified = verifyNameProof(during, READER)
      assert.deepInclude(verified, { height: earlier })
      yield* call("reconsiderblock", before.asOf.hash)
      assert.deepStrictEqual(yield* proofOf(name, { chain: true }), before)
    }))

  it.effect("begin after an earlier operation whose block was pruned", () =>
    Effect.gen(function*() {
      const { chain, names } = yield* MethodNode
      const name = text(LIVING)
      const whole = yield* evidenceInChain({ chain, names }, name, { headers: 6, chain: true })
      const [newest, earlier] = whole.operations
      if (newest === undefined || earlier === undefined) return assert.fail("too few operations")
      /** A chain without the block at a height. */
      const without = (height: number) => ({
        ...chain,
        block: (hash: Uint8Array) =>
          Effect.flatMap(chain.block(hash), (block) =>
            equal(hash, chain.tree.hash(chain.tree.at(height)))
              ? new BlockUnavailable({ hash: displayHash(hash), height, pruned: true })
              : Effect.succeed(block))
      })
      const wanted = { headers: 6, chain: true }
      const found = yield* evidenceInChain({ chain: without(earlier.height), names }, name, wanted)
      assert.deepStrictEqual(found, { ...whole, operations: [newest] })
      const failure = yield* Effect.flip(evidenceInChain({ chain: without(newest.height), names }, name, wanted))
      assert.deepInclude(failure, { _tag: "ProofUnavailable", message: unprovable(newest.height, "missing").message })
    }))

  it.effect("give other work turns by the size of the blocks that they read", () =>
    Effect.gen(function*() {
      const { chain, names } = yield* MethodNode
      const large = {
        ...chain,
        block: (hash: Uint8Array) =>
          Effect.map(chain.block(hash), (block) => new Block({ ...block, bytes: new Uint8Array(640_000) }))
      }
      const turnsOf = (reader: typeof chain) =>
        Effect.gen(function*() {
          let turns = 0
          const loop = replaceEventLoop({
            nextTurn: (task) => {
              turns += 1
              return loop.nextTurn(task)
            },
            afterDelay: (delay, task) => loop.afterDelay(delay, task),
            turn: () => loop.turn()
          })
          const wanted = { headers: 0, chain: true }
          const { operations } = yield* evidenceInChain({ chain: reader, names }, text(LIVING), wanted).pipe(
            Effect.ensuring(Effect.sync(() => replaceEventLoop(loop)))
          )
          // That of each operation, and the tip.
          return turns / (operations.length + 1)
        })
      assert.strictEqual((yield* turnsOf(large)) - (yield* turnsOf(chain)), 10)
    }))

  it.effect("are never made of a name that does not exist", () =>
    Effect.gen(function*() {
      const { call } = yield* MethodNode
      const { value, when } = yield* call("name_proof", "d/nobody")
      assert.strictEqual(when, "the name never existed")
      const asOf = { height: TIP, hash: (yield* call("getbestblockhash")).value }
      const absence = { svcd: "name-absence/1", network: "regtest", name: toHex(text("d/nobody")) }
      assert.deepStrictEqual(value, { ...absence, absent: { from: 0, to: TIP }, asOf })
      assert.isTrue(isFailure(parseNameProof(value)))
    }))

  it.effect("are refused for wrong options and encodings", () =>
    Effect.gen(function*() {
      const { refusal } = yield* MethodNode
      const refused = (code: number, message: string) => ({ code, message })
      assert.deepStrictEqual(
        yield* refusal("name_proof", LIVING, { headers: 25 }),
        refused(-8, "headers is at most 24")
      )
      assert.deepStrictEqual(
        yield* refusal("name_proof", LIVING, { headers: -1 }),
        refused(-8, "headers must not be negative")
      )
      assert.deepStrictEqual(
        yield* refusal("name_proof", "xy", { nameEncoding: "hex" }),
        refused(-1000, "Name/value is invalid for encoding hex")
      )
    }))
})

layer(methodNode())("verifynameproof", (it) => {
  it.effect("takes a proof as an object or as text, and shows what it proves", () =>
    Effect.gen(function*() {
      const { call } = yield* MethodNode
      const { text: json, value } = yield* call("name_proof", LIVING, { chain: true })
      const shown = yield* call("verifynameproof", value)
      assert.deepStrictEqual((yield* call("verifynameproof", json)).value, shown.value)
      const verified = verifyNameProof(json, READER)
      assert.deepStrictEqual(shown.value, JSON.parse(JSON.stringify({ valid: true, ...verified })))
    }).pipe(Effect.withClock(new ManualClock(1000 * NOW))))

  it.effect("names the reason against a proof", () =>
    Effect.gen(function*() {
      const { call } = yield* MethodNode
      const proof = yield* proofOf(toHex(text(LIVING)))
      const failures: ReadonlyArray<readonly [proof: unknown, said: object, options?: object]> = [
        ["no proof", { failed: "the proof is not JSON", code: "unreadable" }],
        [{ ...proof, network: "main" }, { failed: "the proof is about main, not regtest", code: "network" }],
        [{ ...proof, operations: [] }, { failed: "the proof has no operation" }],
        [{ ...proof, name: "00" }, { failed: "output 0 has another name" }],
        [proof, { failed: "the proof has 7 of 8 confirmations", code: "confirmations" }, { minConfirmations: 8 }]
      ]
      for (const [given, said, options = {}] of failures) {
        assert.deepStrictEqual((yield* call("verifynameproof", given, options)).value, { valid: false, ...said })
      }
    }).pipe(Effect.withClock(new ManualClock(1000 * NOW))))
})

layer(methodNode({ blocks: false, loading: true }))("a node without names", (it) => {
  it.effect("denies no name, and still verifies proofs", () =>
    Effect.gen(function*() {
      const { call, refusal } = yield* MethodNode
      assert.deepStrictEqual(yield* refusal("name_proof", LIVING), {
        code: -10,
        message: "Namecoin is downloading blocks..."
      })
      const { value } = yield* call("verifynameproof", "{}")
      assert.deepInclude(value, { valid: false })
    }))
})
