import { afterEach, assert, describe, it } from "@effect/vitest"
import { type ConsensusParams, regtestParams, withOverrides } from "../../src/consensus/params.ts"
import type { Activation } from "../../src/consensus/readerParams.ts"
import type { Coin, NameClaim, NameEffect } from "../../src/consensus/view.ts"
import { type Block, decodeBlock } from "../../src/protocol/block.ts"
import { binaryString, displayHash, fromBinaryString, fromHex, toHex } from "../../src/protocol/bytes.ts"
import { DecodeError } from "../../src/protocol/Reader.ts"
import { prevoutIndex, prevoutTxid } from "../../src/protocol/transaction.ts"
import {
  type Checkpoint,
  expectedSummary,
  fixtureBlocks,
  type NameRow,
  readRecords,
  summarize
} from "../support/chainFixture.ts"
import { fixtureBytes, fixtureJson, hasShared } from "../support/fixtures.ts"
import { type JudgeOptions, MemoryChain, trustScripts } from "../support/MemoryChain.ts"

/**
 * Blocks that the reference node accepted or refused, one by one, and the state it reached: the rules as a whole.
 * The folders of test/fixtures say how they were made and judged.
 */

const expected = fixtureJson<{ readonly checkpoints: ReadonlyArray<Checkpoint> }>("regtest-names/expected.json")
const chainBlocks = fixtureBlocks("regtest-names/blocks.dat")

const withActivation = (activation: Partial<Activation>): ConsensusParams =>
  withOverrides(regtestParams, { activation })

const WITHOUT_TAPROOT = withActivation({ taproot: Infinity })
const LATE = 100_000
const BEFORE_SOFTFORKS = withActivation({ bip34: LATE, bip65: LATE, bip66: LATE, csv: LATE, taproot: Infinity })

const blockAt = (height: number): Block => {
  const block = chainBlocks[height]
  if (block === undefined) throw new RangeError(`the fixture has no block ${height}`)
  return block
}

const connectUpTo = (chain: MemoryChain, height: number, options: JudgeOptions = {}): void => {
  while (chain.height < height) chain.connect(blockAt(chain.height + 1), options)
}

/** The names of a state as `name_scan` rows, without values, by name. */
const claimRows = (claims: ReadonlyMap<string, NameClaim>) =>
  [...claims].map(([name, { height, outpoint }]) => {
    const prevout = fromBinaryString(outpoint)
    const txid = displayHash(prevoutTxid(prevout))
    return { name: toHex(fromBinaryString(name)), txid, vout: prevoutIndex(prevout), height }
  }).sort((a, b) => a.name < b.name ? -1 : 1)

const expectedRows = (rows: ReadonlyArray<NameRow>) =>
  rows.map(({ height, name, txid, vout }) => ({ name, txid, vout, height })).sort((a, b) => a.name < b.name ? -1 : 1)

const state = (chain: MemoryChain) => ({ coins: new Map(chain.coins), claims: new Map(chain.claims) })

/** Compares states of one chain. After an undo the objects are identical, which makes the comparison fast. */
const assertUnchanged = (chain: MemoryChain, before: ReturnType<typeof state>, message?: string): void => {
  const same = <A>(now: ReadonlyMap<string, A>, then: ReadonlyMap<string, A>): boolean =>
    now.size === then.size && [...then].every(([key, value]) => now.get(key) === value)
  if (same(chain.coins, before.coins) && same(chain.claims, before.claims)) return
  assert.deepStrictEqual(state(chain), before, message)
}

// All work is synchronous: without turns of the event loop, the test runner considers the worker dead.
afterEach(() => new Promise<void>((resolve) => setImmediate(resolve)))

describe("regtest-names: a chain of 600 blocks", () => {
  const chain = new MemoryChain(regtestParams)

  it.each(expected.checkpoints)(
    "the chain has the reference node's coins and names at height $height",
    (checkpoint) => {
      connectUpTo(chain, checkpoint.height)
      assert.deepStrictEqual(summarize(chain.coins), expectedSummary(checkpoint.utxo))
      assert.deepStrictEqual(claimRows(chain.claims), expectedRows(checkpoint.nameScanHex))
    }
  )

  it("disconnecting blocks gives every earlier state, and connecting them gives the tip again", () => {
    const tip = state(chain)
    const states: Array<ReturnType<typeof state>> = []
    const replay = new MemoryChain(regtestParams, trustScripts)
    for (let height = 0; height < 600; height++) {
      if (height >= 400) states.push(state(replay))
      replay.connect(blockAt(height + 1))
    }
    assert.deepStrictEqual(state(replay), tip)
    for (const before of states.reverse()) {
      replay.disconnect()
      assertUnchanged(replay, before)
    }
    while (replay.height > 0) replay.disconnect()
    assert.deepStrictEqual(state(replay), { coins: new Map<string, Coin>(), claims: new Map<string, NameClaim>() })
  })

  it.each([
    { params: WITHOUT_TAPROOT, rules: "without taproot" },
    { params: BEFORE_SOFTFORKS, rules: "before the soft forks" }
  ])("the chain reaches the same state $rules", ({ params }) => {
    const other = new MemoryChain(params)
    connectUpTo(other, 600)
    assert.deepStrictEqual(state(other), state(chain))
  })
})

describe("regtest-names: losing branches", () => {
  const { branches } = fixtureJson<{
    readonly branches: ReadonlyArray<{
      readonly forkHeight: number
      readonly length: number
      readonly firstRecord: number
      readonly atStaleTip: Checkpoint
    }>
  }>("regtest-names/stale.json")
  const stale = fixtureBlocks("regtest-names/stale.dat")
  const chain = new MemoryChain(regtestParams)

  it.each(branches)("$length blocks from height $forkHeight on leave no trace after a reorg", (branch) => {
    connectUpTo(chain, branch.forkHeight)
    const before = state(chain)
    for (const block of stale.slice(branch.firstRecord, branch.firstRecord + branch.length)) chain.connect(block)
    assert.deepStrictEqual(summarize(chain.coins), expectedSummary(branch.atStaleTip.utxo))
    assert.deepStrictEqual(claimRows(chain.claims), expectedRows(branch.atStaleTip.nameScanHex))
    while (chain.height > branch.forkHeight) chain.disconnect()
    assertUnchanged(chain, before)
  })
})

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

describe.skipIf(!hasShared)("regtest-load: 6,000 blocks with 74,000 transactions", () => {
  it("the chain has the reference node's coins and number of names at every checkpoint", () => {
    const { checkpoints } = fixtureJson<{
      readonly checkpoints: ReadonlyArray<
        Pick<Checkpoint, "height" | "utxo"> & { readonly names: { readonly total: number } }
      >
    }>("regtest-load/expected.json")
    const chain = new MemoryChain(regtestParams, trustScripts)
    for (const record of readRecords(fixtureBytes("regtest-load/blocks.dat")).slice(1)) {
      chain.connect(decodeBlock(record))
      const checkpoint = checkpoints.find(({ height }) => height === chain.height)
      if (checkpoint === undefined) continue
      assert.deepStrictEqual(summarize(chain.coins), expectedSummary(checkpoint.utxo))
      assert.strictEqual(chain.claims.size, checkpoint.names.total)
    }
    assert.strictEqual(chain.height, 6000)
  })
})
