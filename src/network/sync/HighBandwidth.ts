import type { PeerId } from "../../protocol/keys.ts"
/** BIP 152. */
const MOST = 3

export interface Choice {
  readonly chosen: PeerId
  readonly dismissed: PeerId | undefined
}

/**
 * The last three peers that were first with a new block, at least one of them outbound. Source: upstream
 * `MaybeSetPeerAsAnnouncingHeaderAndIDs`.
 */
export class HighBandwidth {
  /** Least recently useful first. */
  private readonly peers: Array<{ readonly id: PeerId; readonly inbound: boolean }> = []

  has(id: PeerId): boolean {
    return this.peers.some((peer) => peer.id === id)
  }

  remove(id: PeerId): void {
    const at = this.peers.findIndex((peer) => peer.id === id)
    if (at >= 0) this.peers.splice(at, 1)
  }

  gaveBlock(id: PeerId, inbound: boolean): Choice | undefined {
    if (this.has(id)) {
      this.remove(id)
      this.peers.push({ id, inbound })
      return undefined
    }
    let dismissed: PeerId | undefined
    if (this.peers.length >= MOST) {
      const called = this.peers.filter((peer) => !peer.inbound)
      const kept = inbound && called.length === 1 ? called[0] : undefined
      const at = this.peers.findIndex((peer) => peer !== kept)
      dismissed = this.peers.splice(Math.max(at, 0), 1)[0]?.id
    }
    this.peers.push({ id, inbound })
    return { chosen: id, dismissed }
  }
}
