import * as Effect from "effect/Effect"
import { type AnswerMemory, UNCOUNTED } from "./CallerMemory.ts"
import { Amount, encodeJson, encodeString, type JsonValue, LazyArray, LazyMap, RawJson } from "./json/encodeJson.ts"
import { flat, JsonNumber, JsonObject } from "./json/json.ts"
import { LongText, PIECE } from "./json/LongText.ts"
import { isHighSurrogate } from "./json/readJson.ts"
import { RPC_CODE, RpcError } from "./method/RpcError.ts"
import { type CallTurns, SlowLane } from "./SlowLane.ts"

/** Encodes long answers in counted pieces over several turns of the event loop, even before later values exist. */

/** Characters from which short texts are joined: long chains take several times the memory and are slow to write. */
const JOINED = 4_096

/** Members from which a result is encoded in pieces. */
const MANY = 256

/** Characters from which a text is encoded in pieces, and per piece. */
const LONG_STRING = 65_536

/** Depth of the long part of a result: `result.tx[…]`. */
const DEPTH = 2

/** Collects text within the caller's memory. */
export class PieceWriter {
  /** Characters, close to the number of bytes. */
  length = 0
  readonly #memory: AnswerMemory
  readonly #pieces: Array<Uint8Array> = []
  readonly #parts: Array<string> = []
  #partsLength = 0
  #text = ""
  #taken = 0

  constructor(memory: AnswerMemory) {
    this.#memory = memory
  }

  /** Without memory, returns false and releases all pieces: the answer is lost. */
  add(text: string): boolean {
    this.length += text.length
    this.#text += text
    if (this.#text.length < JOINED) return true
    this.#parts.push(flat(this.#text))
    this.#partsLength += this.#text.length
    this.#text = ""
    return this.#partsLength < PIECE || this.#flush()
  }

  /** The pieces are already counted. */
  append({ length, pieces }: LongText): boolean {
    this.#taken += length
    this.length += length
    if (!this.#flush()) return false
    for (const piece of pieces) this.#pieces.push(piece)
    return true
  }

  /** An uncounted string if short, `undefined` without memory. */
  end(): string | LongText | undefined {
    if (this.#pieces.length === 0 && this.#partsLength + this.#text.length < PIECE) return this.#takeText()
    return this.#flush() ? new LongText(this.#pieces) : undefined
  }

  drop(): void {
    this.#memory.give(this.#taken)
    this.#taken = 0
    this.#pieces.length = 0
    this.#takeText()
  }

  #takeText(): string {
    const text = this.#parts.length === 0 ? this.#text : this.#parts.join("") + this.#text
    this.#parts.length = 0
    this.#partsLength = 0
    this.#text = ""
    return text
  }

  #flush(): boolean {
    const text = this.#takeText()
    if (text === "") return true
    const piece = Buffer.from(text, "utf8")
    if (!this.#memory.take(piece.length)) {
      this.drop()
      return false
    }
    this.#taken += piece.length
    this.#pieces.push(piece)
    return true
  }
}

const isArray = (value: object): value is ReadonlyArray<JsonValue> => Array.isArray(value)

const isMap = (value: object): value is ReadonlyMap<string, JsonValue> => value instanceof Map

const isLongString = (value: JsonValue | undefined): boolean => typeof value === "string" && value.length > LONG_STRING

export const isLong = (value: JsonValue | undefined, depth = DEPTH): boolean => {
  if (typeof value !== "object" || value === null) return isLongString(value)
  if (isArray(value)) return value.length > MANY || value.some(isLongString)
  if (value instanceof LazyArray || value instanceof LazyMap || value instanceof LongText) return true
  if (value instanceof Amount || value instanceof RawJson || value instanceof JsonNumber) return false
  if (value instanceof JsonObject) return value.keys.length > MANY
  if (isMap(value)) return value.size > MANY
  if (depth === 0) return false
  for (const name in value) if (isLong(value[name], depth - 1)) return true
  return false
}

/** For an object that may be long; otherwise `undefined`. */
const membersOf = (value: JsonValue): Iterable<readonly [string, JsonValue | undefined]> | undefined => {
  if (typeof value !== "object" || value === null || isArray(value) || value instanceof LazyArray) return undefined
  if (value instanceof LazyMap) return value.members
  if (value instanceof JsonObject) return value.keys.map((key, at) => [key, value.values[at] ?? null] as const)
  if (isMap(value)) return value
  if (value instanceof Amount || value instanceof RawJson || value instanceof JsonNumber) return undefined
  if (value instanceof LongText) return undefined
  return Object.entries(value)
}

/** No piece ends within a surrogate pair, which JSON would then escape. */
function* piecesOf(text: string): Generator<string> {
  yield "\""
  for (let at = 0; at < text.length;) {
    const end = Math.min(text.length, at + LONG_STRING)
    const next = end < text.length && isHighSurrogate(text.charCodeAt(end - 1)) ? end + 1 : end
    yield encodeString(text.slice(at, next)).slice(1, -1)
    at = next
  }
  yield "\""
}

function* textsOf(value: JsonValue): Generator<string> {
  if (!isLong(value) || value instanceof LongText) return yield encodeJson(value)
  if (typeof value === "string") return yield* piecesOf(value)
  let between = ""
  if (typeof value === "object" && value !== null && (isArray(value) || value instanceof LazyArray)) {
    yield "["
    for (const item of isArray(value) ? value : value.items) {
      yield between
      yield* textsOf(item)
      between = ","
    }
    return yield "]"
  }
  yield "{"
  for (const [name, member] of membersOf(value) ?? []) {
    if (member === undefined) continue
    yield `${between}${encodeString(name)}:`
    yield* textsOf(member)
    between = ","
  }
  yield "}"
}

export const noMemory = (): RpcError =>
  new RpcError({
    code: RPC_CODE.outOfMemory,
    message:
      "The answer, or the work on it, needs more than the memory left for answers: request less at once, or retry later"
  })

/** Fails with -7 without memory. */
export const encodeLong = (
  value: JsonValue,
  memory: AnswerMemory = UNCOUNTED,
  turns: CallTurns = new SlowLane().open()
): Effect.Effect<string | LongText, RpcError> =>
  Effect.suspend(() => {
    // Counted as if the shared text belonged to this caller alone.
    if (value instanceof LongText) return memory.take(value.length) ? Effect.succeed(value) : noMemory()
    const writer = new PieceWriter(memory)
    const texts = textsOf(value)
    const goOn = (): Effect.Effect<string | LongText, RpcError> => {
      for (;;) {
        const { done, value: text } = texts.next()
        if (done === true) {
          const whole = writer.end()
          return whole === undefined ? noMemory() : Effect.succeed(whole)
        }
        if (!writer.add(text)) return noMemory()
        if (turns.isOver()) return Effect.flatMap(turns.next, goOn)
      }
    }
    return Effect.onExit(Effect.suspend(goOn), (exit) =>
      exit._tag === "Success" ? Effect.void : Effect.sync(() => writer.drop()))
  })
