import { codec } from "../codec.ts"

/** BIP 31. Before protocol version 60001 it has no nonce and no answer. */
export interface Ping {
  readonly type: "ping"
  readonly nonce: bigint | undefined
}

export const ping = codec<Ping>(
  (reader) => ({ type: "ping", nonce: reader.remaining === 0 ? undefined : reader.u64("nonce") }),
  (writer, { nonce }) => {
    if (nonce !== undefined) writer.u64(nonce)
  }
)

export interface Pong {
  readonly type: "pong"
  readonly nonce: bigint | undefined
}

export const pong = codec<Pong>(
  (reader) => ({ type: "pong", nonce: reader.remaining === 0 ? undefined : reader.u64("nonce") }),
  (writer, { nonce }) => {
    if (nonce !== undefined) writer.u64(nonce)
  }
)
