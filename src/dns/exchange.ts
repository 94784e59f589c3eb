import type * as Stream from "effect/Stream"
import type { Bytes } from "../protocol/bytes.ts"

/** Who asks. */
export interface DnsClient {
  readonly transport: "udp" | "tcp" | "tls" | "https"
  /** An IP address, IPv4 in its own form. */
  readonly address: string
  readonly port: number
}

export type DnsReply =
  | { readonly _tag: "Message"; readonly bytes: Bytes }
  /** The messages of a zone transfer, over TCP and TLS only. */
  | { readonly _tag: "Transfer"; readonly messages: Stream.Stream<Bytes> }
  /** No answer at all: what came is not a question. */
  | { readonly _tag: "Drop"; readonly reason: string }
