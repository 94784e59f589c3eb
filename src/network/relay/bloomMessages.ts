import * as Effect from "effect/Effect"
import type { MessageParts } from "../messageTable.ts"
import type { Peer } from "../Peer.ts"
import { isWithinFilterLimits } from "../wire/messages/bloom.ts"
import { BloomFilter } from "./BloomFilter.ts"
import { carriesTransactions } from "./relaysTransactions.ts"

// The filters that peers set for announcements and blocks (BIP 37), with `-peerbloomfilters` or the permission
// `bloomfilter`. A filter has at most 36 kB; it is counted in the memory of its peer until the connection ends. Source:
// upstream `net_processing.cpp`, `ProcessMessage`.

/** `enabled`: whether all peers may set filters. */
export const mayFilter = ({ permissions }: Pick<Peer, "permissions">, enabled: boolean): boolean =>
  enabled || permissions.has("bloomfilter")

const misbehaves = (peer: Peer, reason: string): void => peer.disconnect({ reason, misbehaving: true })

/** A peer with a filter gets transactions. */
const setFilter = ({ disconnect, features, memory }: Peer, filter: BloomFilter | undefined): void => {
  if (features.bloom !== undefined) memory.give("messages", features.bloom.size)
  features.bloom = undefined
  features.relay = true
  if (filter === undefined) return
  if (!memory.take("messages", filter.size)) {
    return disconnect({ reason: "out of memory budget: the bloom filter of the peer", misbehaving: false })
  }
  features.bloom = filter
}

export const bloomMessages = (enabled: boolean): NonNullable<MessageParts["bloom"]> => {
  const allowed = (peer: Peer, act: () => void): Effect.Effect<void> =>
    Effect.sync(() => {
      if (!mayFilter(peer, enabled)) {
        return peer.disconnect({ reason: "unsupported: the peer uses bloom filters", misbehaving: false })
      }
      act()
    })
  return {
    filterload: (peer, message) =>
      allowed(peer, () => {
        if (!isWithinFilterLimits(message)) return misbehaves(peer, "invalid filterload: the bloom filter is too large")
        if (carriesTransactions(peer)) setFilter(peer, new BloomFilter(message))
      }),
    filteradd: (peer, message) =>
      allowed(peer, () => {
        if (!isWithinFilterLimits(message)) return misbehaves(peer, "invalid filteradd: the data is too long")
        if (!carriesTransactions(peer)) return
        if (peer.features.bloom === undefined) {
          return misbehaves(peer, "invalid filteradd: the peer has no bloom filter")
        }
        peer.features.bloom.add(message.data)
      }),
    filterclear: (peer) =>
      allowed(peer, () => {
        if (carriesTransactions(peer)) setFilter(peer, undefined)
      })
  }
}
