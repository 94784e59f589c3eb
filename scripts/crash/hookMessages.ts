import { createHmac } from "node:crypto"
import { type Replica, take } from "../../examples/replica.ts"
import { recordOf } from "./rpc.ts"

/** What a receiver of a webhook of every kind of event keeps, and what it checks of each message. */

export interface HookMessagesOptions {
  /** `whsec_` and base64. */
  readonly secret: string
  readonly fault: (what: string, detail: string) => void
  readonly count: (what: string) => void
  /** Each event, after the copy has it, as JSON with names and values in hexadecimal digits. */
  readonly taken?: (event: string) => void
  /** All events of a block have come: the copy has the names as of the block. */
  readonly complete?: (block: { readonly height: number; readonly hash: string }) => void
}

interface Block {
  readonly height: number
  readonly hash: string
}

interface Message extends Block {
  readonly type: string
  readonly more: boolean
  readonly events: ReadonlyArray<{ readonly type: string }>
}

const digitsOf = (text: unknown): string => Buffer.from(String(text)).toString("hex")

/** A part of an event as the copy has it: names and values in hexadecimal digits, including those that have no text. */
const inDigits = (_key: string, part: unknown): unknown => {
  if (typeof part !== "object" || part === null || Array.isArray(part)) return part
  const { name, name_hex: nameHex, value, value_hex: valueHex, ...others } = recordOf(part)
  return {
    ...others,
    ...name === undefined && nameHex === undefined ? {} : { name: nameHex ?? digitsOf(name) },
    ...value === undefined && valueHex === undefined ? {} : { value: valueHex ?? digitsOf(value) }
  }
}

export class HookMessages {
  /** The copy of all names. */
  readonly replica: Replica = { names: new Map(), cursor: "0" }
  private readonly options: HookMessagesOptions
  private readonly key: Buffer
  private readonly bodies = new Map<string, string>()
  private last = 0
  /** The blocks that are not undone. */
  private readonly blocks: Array<Block> = []
  /** The block of which further messages come. */
  private open: Block | undefined

  constructor(options: HookMessagesOptions) {
    this.options = options
    this.key = Buffer.from(options.secret.replace("whsec_", ""), "base64")
  }

  /** The hash of the last block that it has. */
  get tip(): string | undefined {
    return this.blocks.at(-1)?.hash
  }

  /** The height of that block; -1 for none. */
  get height(): number {
    return this.blocks.at(-1)?.height ?? -1
  }

  take(
    body: string,
    { id, signature, timestamp }: { readonly id: string; readonly timestamp: string; readonly signature: string }
  ): void {
    const { complete, count, fault, taken } = this.options
    const expected = `v1,${createHmac("sha256", this.key).update(`${id}.${timestamp}.${body}`).digest("base64")}`
    if (signature !== expected) return fault("unsigned", id)
    const before = this.bodies.get(id)
    if (before !== undefined) {
      if (before !== body) fault("changed", `${id} was ${before.slice(0, 500)}, and is ${body.slice(0, 500)}`)
      return count("messages received again")
    }
    this.bodies.set(id, body)
    const number = Number(id.split("_")[2])
    if (number <= this.last) fault("disordered", `${id} comes behind number ${this.last}`)
    if (number > this.last + 1) count("numbers that never came")
    this.last = number
    count("messages")
    const message: Message = JSON.parse(body)
    if (message.type === "names.undone") this.undo(message)
    else this.connect(message)
    for (const event of message.events) {
      const text = JSON.stringify(event, inDigits)
      take(this.replica, text)
      taken?.(text)
    }
    if (message.type !== "names.undone" && !message.more) complete?.(message)
  }

  private undo({ hash, height }: Message): void {
    const { count, fault } = this.options
    const tip = this.blocks.at(-1)
    this.open = undefined
    count("blocks undone")
    if (tip?.hash === hash) return void this.blocks.pop()
    // Only the next block, or the one that it has undone: the node did not know whether it has the message.
    if (height === this.blocks.length) return count("blocks undone that it did not have")
    fault("gap", `block ${height} ${hash} is undone, and the last one is ${tip?.height} ${tip?.hash}`)
  }

  private connect({ events, hash, height, more }: Message): void {
    const { count, fault } = this.options
    const tip = this.blocks.at(-1)
    if (this.open?.hash === hash) {
      if (!more) this.open = undefined
      return
    }
    if (this.open !== undefined) fault("gap", `block ${height} comes before the end of ${this.open.height}`)
    if (tip?.hash === hash) count("blocks that it had")
    else if (height !== this.blocks.length) fault("gap", `block ${height} comes behind ${tip?.height}`)
    else this.blocks.push({ height, hash })
    this.open = more ? { height, hash } : undefined
    if (!more && events.at(-1)?.type !== "block") fault("gap", `block ${height} has no end`)
  }
}
