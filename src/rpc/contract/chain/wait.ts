import * as Schema from "effect/Schema"
import { contract } from "../../method/contract.ts"
import { hash, int32, optional, withDefault } from "../../method/params.ts"
import * as Result from "../../method/results.ts"

const TIP = Schema.Struct({ hash: Result.hex("Hash of the tip"), height: Result.integer("Height of the tip") })

export const NEGATIVE = "Negative timeout"

const TIMEOUT = withDefault(int32("Milliseconds to wait; 0 for no limit."), 0)

const WAITING = {
  right: "read",
  group: "Blockchain",
  waits: true,
  answersAtStop: true,
  results: [{ schema: TIP }],
  errors: [`-1 ${NEGATIVE}`]
} as const

export const WAITFORNEWBLOCK = contract({
  ...WAITING,
  name: "waitfornewblock",
  summary: "Waits for a new tip, and returns it. After the timeout, or when the node stops, returns the current tip.",
  params: {
    timeout: TIMEOUT,
    current_tip: optional(hash("Waits for a different tip."), "the tip at the time of the call")
  },
  examples: [[1000]]
})

export const WAITFORBLOCK = contract({
  ...WAITING,
  name: "waitforblock",
  summary:
    "Waits until the block is the tip, and returns the tip. After the timeout, or when the node stops, returns the " +
    "current tip.",
  params: { blockhash: hash("The block."), timeout: TIMEOUT },
  examples: [["0000000000079f8ef3d2c688c244eb7a4570b24c9ed7b4a8c619eb02596f8862", 1000]]
})

export const WAITFORBLOCKHEIGHT = contract({
  ...WAITING,
  name: "waitforblockheight",
  summary: "Waits until the tip has at least this height, and returns the tip. After the timeout, or when the node " +
    "stops, returns the current tip.",
  params: { height: int32("The height."), timeout: TIMEOUT },
  examples: [[100, 1000]]
})
