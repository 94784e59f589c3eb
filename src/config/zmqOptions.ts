import * as Kind from "./kinds.ts"
import { inGroup, listOption, oneOption } from "./optionRow.ts"
import type { SettingsIn } from "./settingsIn.ts"

/** In the order of `getzmqnotifications`. */
export const ZMQ_TOPICS = ["hashblock", "hashtx", "rawblock", "rawtx", "sequence"] as const

export type ZmqTopic = typeof ZMQ_TOPICS[number]

/** Messages that libzmq keeps for a slow subscriber (upstream `DEFAULT_ZMQ_SNDHWM`). */
const HIGH_WATER_MARK = "1000"

const published = <T extends ZmqTopic>(topic: T, what: string) =>
  listOption(Kind.textKind("ADDRESS"), `zmq.${topic}`, {
    description: `publish ${what} by ZeroMQ at tcp://HOST:PORT or unix:PATH; may be repeated`,
    defaultNote: "not published"
  })

const highWaterMark = <T extends ZmqTopic>(topic: T) =>
  oneOption(Kind.integerKind({ min: 0, max: 2 ** 31 - 1 }), `zmq.${topic}hwm`, {
    description: `messages to keep for a slow subscriber of -zmqpub${topic}; 0 for no limit`,
    default: HIGH_WATER_MARK
  })

export const ZMQ_OPTIONS = inGroup("ZeroMQ", {
  zmqpubhashblock: published("hashblock", "the hash of each new tip"),
  zmqpubhashblockhwm: highWaterMark("hashblock"),
  zmqpubhashtx: published("hashtx", "the txids of transactions that the mempool or a block takes"),
  zmqpubhashtxhwm: highWaterMark("hashtx"),
  zmqpubrawblock: published("rawblock", "the bytes of each new tip"),
  zmqpubrawblockhwm: highWaterMark("rawblock"),
  zmqpubrawtx: published("rawtx", "the bytes of transactions that the mempool or a block takes"),
  zmqpubrawtxhwm: highWaterMark("rawtx"),
  zmqpubsequence: published("sequence", "blocks and mempool changes in their order"),
  zmqpubsequencehwm: highWaterMark("sequence")
})

export interface ZmqSettings {
  readonly topic: ZmqTopic
  /** `tcp://HOST:PORT`, `unix:PATH` or another address of libzmq. */
  readonly address: string
  /** Messages kept for a slow subscriber. */
  readonly hwm: number
}

/** In the order of `getzmqnotifications`. */
export const zmqPublishers = (zmq: SettingsIn<typeof ZMQ_OPTIONS>["zmq"]): ReadonlyArray<ZmqSettings> =>
  ZMQ_TOPICS.flatMap((topic) => zmq[topic].map((address) => ({ topic, address, hwm: zmq[`${topic}hwm`] })))
