import { readFileSync } from "node:fs"
import { join } from "node:path"
import { type Answer, listOf, pause, type Question, recordOf, type RpcClient, textOf } from "./rpc.ts"

interface CallLook {
  readonly question: Question
  readonly holds: (answer: Answer) => boolean
}

/** Where an acknowledged result is checked after a crash. */
export type Look =
  /** By a call, whose answer is checked. What `unless` finds by another call explains that the first does not hold. */
  | CallLook & { readonly unless?: CallLook }
  /** In a file of the data directory, whose text is checked. */
  | { readonly file: string; readonly holds: (text: string) => boolean }

export const byCall = (question: Question, holds: (answer: Answer) => boolean): CallLook => ({ question, holds })

export const inFile = (file: string, holds: (text: string) => boolean): Look => ({ file, holds })

/** A fact that a caller may rely on once the node has answered. */
export interface Claim {
  /** For the report. */
  readonly what: string
  /** Claims of the same key replace each other: a label, for example. */
  readonly key: string
  readonly look: Look
}

/** The position of the best chain after an operation: it holds one block and, after an invalidation, lacks another. */
export interface Position {
  readonly holds: string
  readonly lacks?: string
}

interface Entry {
  readonly claim: Claim
  readonly begun: number
  readonly done: number
}

interface ChainStep {
  readonly begun: number
  /** The position that holds whether the step was done or not. */
  readonly during: Position
  done: number
  after: Position
}

interface Snapshot {
  readonly tip: string
  readonly done: number
  readonly questions: ReadonlyArray<Question>
  readonly answers: ReadonlyArray<Answer>
}

/** The newest claims are checked after each crash, so many of them; the others were checked after earlier crashes. */
const RECENT = 200

/**
 * What a node has acknowledged, and when. Times are those of the owner's clock: a count of answers, or the size of a
 * recording. The effect of a call that had only begun at the time of a crash may be there or not.
 */
export class Ledger {
  private readonly entries: Array<Entry> = []
  private readonly begun = new Map<string, Array<number>>()
  private readonly steps: Array<ChainStep> = []
  private readonly snapshots: Array<Snapshot> = []
  private readonly clock: () => number

  constructor(clock: () => number) {
    this.clock = clock
  }

  now(): number {
    return this.clock()
  }

  get size(): number {
    return this.entries.length + this.steps.length
  }

  /** Notes that a claim of this key may change from now on. */
  begin(key: string): number {
    const now = this.clock()
    const known = this.begun.get(key)
    if (known === undefined) this.begun.set(key, [now])
    else known.push(now)
    return now
  }

  /** Notes claims whose answer has arrived; `begun` is when the call was sent. */
  acknowledge(begun: number, claims: ReadonlyArray<Claim>): void {
    const done = this.clock()
    for (const claim of claims) this.entries.push({ claim, begun, done })
  }

  /** Notes an operation on the chain; the returned function is called with its answer. */
  chainStep(during: Position): (after: Position) => void {
    const step: ChainStep = { begun: this.clock(), during, done: Infinity, after: during }
    this.steps.push(step)
    return (after) => {
      step.after = after
      step.done = this.clock()
    }
  }

  /** Notes answers that must be the same as long as the chain ends with this block. */
  snapshot(tip: string, questions: ReadonlyArray<Question>, answers: ReadonlyArray<Answer>): void {
    this.snapshots.push({ tip, questions, answers, done: this.clock() })
  }

  /** The times of the answers that claims follow from. */
  times(): ReadonlyArray<number> {
    return [...this.entries.map(({ done }) => done), ...this.steps.map(({ done }) => done)].filter(Number.isFinite)
  }

  /** The claims that must hold after a crash at this time, the newest of each key. */
  due(crash: number): ReadonlyArray<Claim> {
    const newest = new Map<string, Entry>()
    for (const entry of this.entries) if (entry.done <= crash) newest.set(entry.claim.key, entry)
    return [...newest.values()].filter(({ begun, claim }) =>
      // A later change of the same key was under way.
      !(this.begun.get(claim.key) ?? []).some((time) => time > begun && time <= crash)
    ).map(({ claim }) => claim)
  }

  /** The position that the chain must have after a crash at this time. */
  position(crash: number): Position | undefined {
    let position: Position | undefined
    for (const { after, begun, done, during } of this.steps) {
      if (begun > crash) break
      position = done <= crash ? after : during
    }
    return position
  }

  snapshotAt(tip: string, crash: number): Snapshot | undefined {
    return this.snapshots.findLast((snapshot) => snapshot.tip === tip && snapshot.done <= crash)
  }

  /** Returns what is missing from a node that was started after a crash at this time; empty where nothing is. */
  async missing(rpc: RpcClient, directory: string, crash: number, all = false): Promise<ReadonlyArray<string>> {
    const due = this.due(crash)
    const missing: Array<string> = []
    const looked = all ? due : due.slice(-RECENT)
    const asked = looked.flatMap(({ look, what }) => "question" in look ? [{ look, what }] : [])
    const answers = await rpc.askAll(asked.map(({ look }) => look.question))
    for (const [i, { look: { holds, unless }, what }] of asked.entries()) {
      const answer = answers[i]
      if (answer !== undefined && holds(answer)) continue
      if (unless !== undefined && unless.holds(await rpc.ask(unless.question))) continue
      missing.push(`${what}: ${shortly(answer)}`)
    }
    for (const { look, what } of looked) {
      if ("file" in look && !look.holds(contentOf(join(directory, look.file)))) missing.push(what)
    }
    return [...missing, ...await this.misplaced(rpc, crash), ...await this.changed(rpc, crash)]
  }

  private async misplaced(rpc: RpcClient, crash: number): Promise<ReadonlyArray<string>> {
    const position = this.position(crash)
    if (position === undefined) return []
    const confirmations = async (hash: string): Promise<number> => {
      const answer = await rpc.ask(["getblockheader", hash])
      return "result" in answer ? Number(recordOf(answer.result)["confirmations"]) : -2
    }
    const { holds, lacks } = position
    const misplaced: Array<string> = []
    if (await confirmations(holds) < 1) misplaced.push(`place of block ${holds}: not in the best chain`)
    if (lacks !== undefined && await confirmations(lacks) > 0) {
      misplaced.push(`place of invalid block ${lacks}: in the best chain`)
    }
    return misplaced
  }

  private async changed(rpc: RpcClient, crash: number): Promise<ReadonlyArray<string>> {
    await rpc.call("syncwithvalidationinterfacequeue")
    const tip = String(await rpc.call("getbestblockhash"))
    const snapshot = this.snapshotAt(tip, crash)
    if (snapshot === undefined) return []
    const answers = await rpc.askAll(snapshot.questions)
    return snapshot.questions.flatMap((question, i) =>
      textOf(answers[i]) === textOf(snapshot.answers[i])
        ? []
        : [
          `answer ${JSON.stringify(question)} at ${tip}: ${shortly(answers[i])} instead of ${
            shortly(snapshot.answers[i])
          }`
        ]
    )
  }
}

/** Milliseconds that the name database may be behind the chain once the node is ready. */
const NAMES_PATIENCE = 5000

/** What is wrong with names.db by its own check. */
export const namesTrouble = async (rpc: RpcClient): Promise<string | undefined> => {
  for (const until = performance.now() + NAMES_PATIENCE;;) {
    const answer = await rpc.ask(["name_checkdb"])
    if ("result" in answer && answer.result === true) return undefined
    if ("result" in answer || performance.now() > until) return `name_checkdb: ${shortly(answer)}`
    await pause(50)
  }
}

/** Error codes for a missing block, transaction, address, registration… */
export const kindOf = (missing: string): string => missing.split(" ")[0] ?? ""

const shortly = (value: unknown): string => (JSON.stringify(value) ?? "nothing").slice(0, 300)

const contentOf = (path: string): string => {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return ""
  }
}

/** Whether a call has a result that contains these texts. */
export const tells = (...texts: ReadonlyArray<string>) => (answer: Answer): boolean => {
  if (!("result" in answer)) return false
  const text = JSON.stringify(answer.result)
  return texts.every((part) => text.includes(JSON.stringify(part)))
}

/** Whether an element of the result's list contains all these texts. */
export const lists = (...texts: ReadonlyArray<string>) => (answer: Answer): boolean =>
  "result" in answer && listOf(answer.result).some((element) => tells(...texts)({ result: element }))
