import { grouped, sizeText } from "../../base/quantities.ts"
import type { PeerInfo } from "../../network/peerInfo.ts"
import { ago } from "../format.ts"
import { type Html, html } from "../html.ts"
import { row } from "../parts.ts"
import { visible } from "../visible.ts"

/** One line for each peer, which opens. */

export interface PeersShown {
  readonly peers: ReadonlyArray<PeerInfo>
  /** Those without a line. */
  readonly more: number
  /** Seconds since 1970. */
  readonly now: number
}

const milliseconds = (latency: number | undefined): string => latency === undefined ? "–" : `${grouped(latency)} ms`

const peerLine = (now: number) => ({ peer, sync }: PeerInfo): Html =>
  html`<li><details id="peer-${peer.id}"><summary><span class="address">${
    visible(peer.name)
  }</span><span class="muted">${
    peer.inbound ? "inbound" : "outbound"
  }</span><span class="number"><span class="out">ping </span>${
    milliseconds(peer.latency.last)
  }</span></summary><dl class="record">${
    row("Software", peer.hello.userAgent === "" ? html`–` : visible(peer.hello.userAgent))
  }${row("Protocol", html`${String(peer.hello.version)}`)}${
    row("Height", html`${grouped(Math.max(0, sync.syncedHeaders, sync.syncedBlocks, peer.hello.startHeight))}`)
  }${row("Connected", ago(peer.connectedAt, { now }))}${
    row("Traffic", html`${sizeText(peer.traffic.bytesReceived)} received, ${sizeText(peer.traffic.bytesSent)} sent`)
  }</dl></details></li>`

export const peersView = ({ more, now, peers }: PeersShown): Html =>
  html`<section id="peers" class="card" aria-labelledby="peers-title">
<h2 id="peers-title">Peers</h2>
${
    peers.length === 0
      ? html`<p class="empty">No peers are connected. The node learns nothing new until one connects.</p>`
      : html`<ul class="lines">${peers.map(peerLine(now))}</ul>${
        more > 0 && html`<p class="muted">and ${grouped(more)} more</p>`
      }`
  }
</section>`
