/** Peers that send compact blocks unasked (BIP 152). */
const MOST = 3

/** What a change of the choice asks for. */
export interface Choice {
  readonly chosen: number
  readonly dismissed: number | undefined
}

/**
 * Which peers are asked to send compact blocks unasked: the last three that gave us a new block first. One that we
 * called ourselves is always kept among them. Source: upstream `MaybeSetPeerAsAnnouncingHeaderAndIDs`.
 */
export class HighBandwidth {
  /** The one that was of use longest ago first. */
  private readonly peers: Array<{ readonly id: number; readonly inbound: boolean }> = []

  has(id: number): boolean {
    return this.peers.some((peer) => peer.id === id)
  }

  remove(id: number): void {
    const at = this.peers.findIndex((peer) => peer.id === id)
    if (at >= 0) this.peers.splice(at, 1)
  }

  /** A peer gave us a new block first. Returns whom to tell; nothing where it was chosen before. */
  gaveBlock(id: number, inbound: boolean): Choice | undefined {
    if (this.has(id)) {
      this.remove(id)
      this.peers.push({ id, inbound })
      return undefined
    }
    let dismissed: number | undefined
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
