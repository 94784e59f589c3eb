import { afterEach, assert, describe, it } from "@effect/vitest"
import { type ConsensusParams, regtestParams } from "../../src/consensus/params.ts"
import type { Coin, NameClaim, NameEffect } from "../../src/consensus/view.ts"
import { type Block, decodeBlock } from "../../src/protocol/block.ts"
import { binaryString, displayHash, fromHex, toHex } from "../../src/protocol/bytes.ts"
import { DecodeError } from "../../src/protocol/Reader.ts"
import { type Checkpoint, expectedSummary, fixtureBlocks, type NameRow, summarize } from "../support/chainFixture.ts"
import { fixtureJson } from "../support/fixtures.ts"
import { type JudgeOptions, MemoryChain, trustScripts } from "../support/MemoryChain.ts"
import {
  assertUnchanged,
  BEFORE_SOFTFORKS,
  claimRows,
  connectUpTo,
  expectedRows,
  state,
  WITHOUT_TAPROOT
} from "./fixtureChain.ts"

/**
 * The verdicts of the reference node on single blocks with and without faults: the rules as a whole.
 * The folders of test/fixtures say how the blocks were made and judged.
 */

// All work is synchronous: without turns of the event loop, the test runner considers the worker dead.
afterEach(() => new Promise<void>((resolve) => setImmediate(resolve)))

/** A block and the reference node's verdict. */
interface Entry {
  readonly id: string
  readonly height: number
  readonly blockHex: string
  readonly coreResult: string | null | { readonly error: { readonly code: number } }
  readonly coreLog?: ReadonlyArray<string>
  readonly nodeTime?: number
  readonly via?: "p2p"
  readonly validTwin?: { readonly blockHex: string }
  readonly after?: Checkpoint["utxo"]
  readonly namesUpdated?: ReadonlyArray<NameRow>
}

const UNDECODABLE = "Block decode failed"

const decodeEntry = (hex: string): Block | undefined => {
  try {
    return decodeBlock(fromHex(hex) ?? new Uint8Array(0))
  } catch (cause) {
    if (cause instanceof DecodeError) return undefined
    throw cause
  }
}

/** The verdict on a block: "valid", "inconclusive" as in `submitblock`, or the reason of a refusal. */
const judge = (chain: MemoryChain, hex: string, options: JudgeOptions = {}) => {
  const block = decodeEntry(hex)
  if (block === undefined) return { answer: UNDECODABLE, detail: undefined, delta: undefined }
  const verdict = chain.judge(block, options)
  switch (verdict.type) {
    case "valid":
      return { answer: "valid", detail: undefined, delta: verdict.delta }
    case "stored":
      return { answer: "inconclusive", detail: undefined, delta: undefined }
    case "refused":
      return { answer: verdict.reject.reason, detail: verdict.reject.detail, delta: undefined }
  }
}

const MUTATED = /^\[validation\] Block mutated: ([^,]+), (.*)$/

/** The reference node's answer. The reason for a block from a peer is only in its log. */
const expectedAnswer = ({ coreLog, coreResult, via }: Pick<Entry, "coreLog" | "coreResult" | "via">): string => {
  if (coreResult === null) return "valid"
  if (typeof coreResult !== "string") return UNDECODABLE
  return via === "p2p" ? MUTATED.exec(coreLog?.[0] ?? "")?.[1] ?? "no reason in the log" : coreResult
}

/** The logged text beside the reason, if it is also part of our refusal. */
const expectedDetail = (entry: Entry): string | undefined => {
  const answer = expectedAnswer(entry)
  const [first = "", ...rest] = entry.coreLog ?? []
  if (answer === "high-hash") return first.replace("[error] ", "")
  if (entry.via === "p2p") return MUTATED.exec(first)?.[2]
  for (const [before, after] of [["Block validation error: ", ""], ["AcceptBlock FAILED (", ")"]] as const) {
    const start = `${before}${answer}, `
    const line = [first, ...rest].find((text) => text.includes(start))
    if (line !== undefined) return line.slice(line.indexOf(start) + start.length, line.length - after.length).trimEnd()
  }
  return undefined
}

const isScriptFailure = (answer: string): boolean => answer.startsWith("block-script-verify-flag-failed")

const readEntries = (...names: ReadonlyArray<string>): ReadonlyArray<Entry> =>
  names.flatMap((name) => fixtureJson<ReadonlyArray<Entry>>(`invalid-blocks/${name}.json`))

const invalid = readEntries("invalid-blocks", "invalid-blocks-large")
const valid = readEntries("valid-edge-blocks", "valid-edge-blocks-large")

const HEIGHTS = [170, 330, 560] as const

/** Runs `visit` with the chain below each of the heights of the fixture's blocks. */
const atEachHeight = (params: ConsensusParams, visit: (chain: MemoryChain, height: number) => void): void => {
  const chain = new MemoryChain(params)
  for (const height of HEIGHTS) {
    connectUpTo(chain, height - 1, { verify: trustScripts })
    visit(chain, height)
  }
}

const effectRows = (effects: ReadonlyArray<NameEffect>) => {
  const last = new Map(effects.map((effect) => [binaryString(effect.name), effect]))
  return [...last.values()].map(({ height, name, operation, transaction, vout }) => ({
    name: toHex(name),
    value: toHex(operation.value),
    txid: displayHash(transaction.txid),
    vout,
    height
  })).sort((a, b) => a.name < b.name ? -1 : 1)
}

/** The entries of a height with a different verdict, as "id: ours, not theirs". */
const disagreements = (
  chain: MemoryChain,
  entries: ReadonlyArray<Entry>,
  expectedOf: (entry: Entry) => string
): ReadonlyArray<string> =>
  entries.flatMap((entry) => {
    const { answer } = judge(chain, entry.blockHex, entry.nodeTime === undefined ? {} : { now: entry.nodeTime })
    const wanted = expectedOf(entry)
    return answer === wanted ? [] : [`${entry.id}: ${answer}, not ${wanted}`]
  })

describe("invalid-blocks: single faults and near misses", () => {
  it("the fixture has all entries", () => {
    assert.strictEqual(invalid.length, 947)
    assert.strictEqual(valid.length, 500)
  })

  it("every faulty block is refused with the reference node's reason", () => {
    const wrong: Array<string> = []
    let scripts = 0
    atEachHeight(regtestParams, (chain, height) => {
      const entries = invalid.filter((entry) => entry.height === height)
      wrong.push(...disagreements(chain, entries, expectedAnswer))
      scripts += entries.filter((entry) => isScriptFailure(expectedAnswer(entry))).length
    })
    assert.deepStrictEqual(wrong, [])
    assert.isAbove(scripts, 300)
  })

  it("a refusal has the detail that the reference node logs beside the reason", () => {
    const wrong: Array<string> = []
    let compared = 0
    atEachHeight(regtestParams, (chain, height) => {
      for (const entry of invalid.filter((other) => other.height === height)) {
        const wanted = expectedDetail(entry)
        if (wanted === undefined || isScriptFailure(expectedAnswer(entry))) continue
        const now = entry.nodeTime
        const { detail } = judge(chain, entry.blockHex, { verify: trustScripts, ...(now === undefined ? {} : { now }) })
        compared++
        if (detail !== wanted) wrong.push(`${entry.id}: ${detail}, not ${wanted}`)
      }
    })
    assert.deepStrictEqual(wrong, [])
    assert.isAbove(compared, 500)
  })

  it("every near miss is accepted, with the reference node's coins and names afterwards", () => {
    const wrong: Array<string> = []
    atEachHeight(regtestParams, (chain, height) => {
      for (const entry of valid.filter((other) => other.height === height)) {
        const now = entry.nodeTime
        const { answer, delta } = judge(chain, entry.blockHex, now === undefined ? {} : { now })
        if (delta === undefined || entry.after === undefined) {
          wrong.push(`${entry.id}: ${answer}`)
          continue
        }
        const before = state(chain)
        const block = decodeEntry(entry.blockHex)
        if (block === undefined) continue
        chain.connect(block, { verify: trustScripts, ...(now === undefined ? {} : { now }) })
        assert.deepStrictEqual(summarize(chain.coins), expectedSummary(entry.after), entry.id)
        const updated = entry.namesUpdated?.map(({ height: at, name, txid, value, vout }) => ({
          name,
          value,
          txid,
          vout,
          height: at
        }))
        assert.deepStrictEqual(effectRows(delta.effects), updated?.sort((a, b) => a.name < b.name ? -1 : 1), entry.id)
        chain.disconnect()
        assertUnchanged(chain, before, entry.id)
      }
    })
    assert.deepStrictEqual(wrong, [])
  })

  it("the valid twin of a malleable fault is accepted after the fault was refused", () => {
    let twins = 0
    atEachHeight(regtestParams, (chain, height) => {
      for (const { blockHex, height: at, id, validTwin } of invalid) {
        if (validTwin === undefined || at !== height) continue
        assert.notStrictEqual(judge(chain, blockHex).answer, "valid", id)
        assert.strictEqual(judge(chain, validTwin.blockHex).answer, "valid", id)
        twins++
      }
    })
    assert.isAbove(twins, 0)
  })

  it.each([
    { file: "without-taproot", params: WITHOUT_TAPROOT },
    { file: "before-softforks", params: BEFORE_SOFTFORKS }
  ])("verdicts agree under the rules of $file", ({ file, params }) => {
    type Result = Pick<Entry, "id" | "coreResult">
    const { results } = fixtureJson<{ readonly results: ReadonlyArray<Result> }>(`invalid-blocks/${file}.json`)
    const wanted = new Map(results.map((result) => [result.id, expectedAnswer(result)]))
    const entries = [...invalid, ...valid].filter(({ id }) => wanted.has(id))
    assert.strictEqual(entries.length, results.length)
    const wrong: Array<string> = []
    atEachHeight(params, (chain, height) => {
      const here = entries.filter((entry) => entry.height === height)
      wrong.push(...disagreements(chain, here, ({ id }) => wanted.get(id) ?? ""))
    })
    assert.deepStrictEqual(wrong, [])
  })
})

describe("regtest-names: branches with a fault in the last block", () => {
  interface Offered extends Pick<Entry, "blockHex" | "coreResult"> {
    readonly hash: string
  }
  const { branches } = fixtureJson<{
    readonly branches: ReadonlyArray<{
      readonly forkHeight: number
      readonly fault: string
      readonly blocks: ReadonlyArray<Offered>
    }>
  }>("regtest-names/failed-reorgs.json")

  it.each(branches)("the last of the blocks from height $forkHeight on is refused for its $fault", (branch) => {
    const chain = new MemoryChain(regtestParams)
    connectUpTo(chain, branch.forkHeight, { verify: trustScripts })
    const good = branch.blocks.slice(0, -1).map(({ blockHex }) => decodeEntry(blockHex))
    for (const block of good) if (block !== undefined) chain.connect(block)
    assert.strictEqual(chain.height, branch.forkHeight + good.length)
    const [bad] = branch.blocks.slice(-1)
    assert.strictEqual(judge(chain, bad?.blockHex ?? "").answer, bad?.coreResult)
  })
})

describe("regtest-coinbase-names: coinbases with name outputs", () => {
  const { checkpoints } = fixtureJson<{ readonly checkpoints: ReadonlyArray<Checkpoint> }>(
    "regtest-coinbase-names/expected.json"
  )
  const blocks = fixtureBlocks("regtest-coinbase-names/blocks.dat")
  const cases = fixtureJson<Readonly<Record<"invalid" | "valid", ReadonlyArray<Entry>>>>(
    "regtest-coinbase-names/cases.json"
  )

  it("the chain has the reference node's coins and names at every checkpoint, and its verdict in every case", () => {
    const chain = new MemoryChain(regtestParams)
    const wrong: Array<string> = []
    let judged = 0
    for (const block of blocks.slice(1)) {
      const here = [...cases.invalid, ...cases.valid].filter(({ height }) => height === chain.height + 1)
      wrong.push(...disagreements(chain, here, expectedAnswer))
      judged += here.length
      chain.connect(block)
      const checkpoint = checkpoints.find(({ height }) => height === chain.height)
      if (checkpoint === undefined) continue
      assert.deepStrictEqual(summarize(chain.coins), expectedSummary(checkpoint.utxo))
      assert.deepStrictEqual(claimRows(chain.claims), expectedRows(checkpoint.nameScanHex))
    }
    assert.deepStrictEqual(wrong, [])
    assert.strictEqual(judged, cases.invalid.length + cases.valid.length)
  })

  it("disconnecting all blocks restores the first state", () => {
    const chain = new MemoryChain(regtestParams, trustScripts)
    for (const block of blocks.slice(1)) chain.connect(block)
    while (chain.height > 0) {
      const height = chain.height
      chain.disconnect()
      assert.strictEqual(chain.height, height - 1)
    }
    assert.deepStrictEqual(state(chain), { coins: new Map<string, Coin>(), claims: new Map<string, NameClaim>() })
  })
})
