import { Effect } from "effect"
import type { DnsClient, ResponderOptions } from "../../src/dns/Responder.ts"
import { META_TYPES } from "../../src/dns/wire/codes.ts"
import type { DnsMessage, MessageRecord } from "../../src/dns/wire/message.ts"
import { wireNameText } from "../../src/dns/wire/name.ts"
import type { Bytes } from "../../src/protocol/bytes.ts"
import { TYPE_NUMBERS } from "../../src/values/records.ts"
import { withNewDb } from "../names/blocks.ts"
import { type DnsNode, UDP, withDnsNode } from "../support/dnsNode.ts"
import { rcodeText, typeText } from "../support/dnsZone.ts"

/** A responder over a few names, and its answers in words. */

export const TCP: DnsClient = { ...UDP, transport: "tcp" }

export const ipOf = (last: number): string => JSON.stringify({ ip: `192.0.2.${last}` })

const VALUES = {
  "d/addr": JSON.stringify({ ip: ["192.0.2.1", "192.0.2.2"] }),
  "d/many": JSON.stringify({ ip: Array.from({ length: 40 }, (_, i) => `10.0.0.${i}`) }),
  "d/alias": JSON.stringify({ alias: "addr.bit." }),
  "d/imports": JSON.stringify({ import: "dd/base" }),
  "dd/base": ipOf(9),
  "d/cut": JSON.stringify({ ns: ["ns.example.org."] })
}

export const withNames = (options: Partial<ResponderOptions>, use: (node: DnsNode) => Effect.Effect<void, unknown>) =>
  withNewDb((db) =>
    withDnsNode(
      db,
      options,
      (node) => node.block(VALUES).pipe(Effect.zipRight(node.settled), Effect.zipRight(use(node)))
    )
  )

export const rcodeOf = ({ rcode }: DnsMessage): string => rcodeText(rcode)

export const lines = (records: ReadonlyArray<MessageRecord>): ReadonlyArray<string> =>
  records.map(({ data, owner, type }) =>
    `${wireNameText(owner)} ${typeText(type)}${type === TYPE_NUMBERS.A ? ` ${data.join(".")}` : ""}`
  )

export const optOf = ({ additional }: DnsMessage): MessageRecord | undefined =>
  additional.find(({ type }) => type === META_TYPES.OPT)

/** The data of an option of EDNS. */
export const optionOf = (message: DnsMessage, wanted: number): Bytes | undefined => {
  const data = Buffer.from(optOf(message)?.data ?? [])
  for (let at = 0; at < data.length; at += 4 + data.readUInt16BE(at + 2)) {
    if (data.readUInt16BE(at) === wanted) return data.subarray(at + 4, at + 4 + data.readUInt16BE(at + 2))
  }
  return undefined
}

/** The extended error (RFC 8914): its code and its text. */
export const errorOf = (message: DnsMessage): readonly [number, string] | undefined => {
  const data = optionOf(message, 15)
  return data && [Buffer.from(data).readUInt16BE(), Buffer.from(data).toString("utf8", 2)]
}
