import { grouped, quantityOf, sizeText } from "../base/quantities.ts"
import type { PeerInfo } from "../network/peerInfo.ts"
import type { ListedBlock } from "./explorer/blocksData.ts"
import { fact } from "./explorer/words.ts"
import { ago } from "./format.ts"
import { type Html, html } from "./html.ts"
import { nameLink, poolLink } from "./links.ts"
import type { ConfirmedChange, Overview, PendingChange } from "./overviewData.ts"
import { blockView, shortBlock } from "./places.ts"
import { listedName, visible } from "./visible.ts"

/** The overview as HTML. The ids of its sections show the script what to replace. */

const status = ({ words: { detail, progress, title, tone } }: Overview): Html =>
  html`<section id="status" class="status ${tone}" aria-labelledby="status-title">
<h1 id="status-title"><span class="dot" aria-hidden="true"></span>${title}</h1>
<p>${detail}</p>
${
    progress !== undefined &&
    html`<progress max="${progress.max}" value="${progress.value}" aria-label="Progress">${
      grouped(100 * progress.value / progress.max)
    } %</progress>`
  }
</section>`

/** Blocks. */
const FOUR_WEEKS = 4_032

/**
 * How many names, and not which, nor the block of the first: the lists of names by their expiry would tell which. The page
 * may have more readers than the wallet has owners.
 */
const expiringLine = ({ expiring }: Overview): Html => {
  // Without names it is there too: the script replaces a section, and does not add one.
  if (expiring === undefined) return html`<section id="expiring" hidden></section>`
  const names = `${expiring.more ? "More than " : ""}${quantityOf(expiring.count, "name")}`
  const span = expiring.within === FOUR_WEEKS ? "four weeks" : quantityOf(expiring.within, "block")
  const verb = expiring.count === 1 && !expiring.more ? "expires" : "expire"
  return html`<section id="expiring" class="status busy" aria-label="Names about to expire">
<p><b>${names}</b> of the wallets or the watch list ${verb} within ${span}, without a renewal on its way. <code>svcd-cli expiring</code> lists them.</p>
</section>`
}

const namesFact = ({ names, report: { proof, window } }: Overview): Html => {
  if (window !== undefined) return fact("Names", grouped(window.names), `in the last blocks, proof: ${proof}`)
  return names === undefined
    ? fact("Names", "–", "counted when synced")
    : fact("Active names", grouped(names.active), `${grouped(names.names - names.active)} expired`)
}

const facts = (overview: Overview): Html => {
  const { headers, inbound, mempool, now, outbound, tip, traffic } = overview
  return html`<section id="facts" aria-label="Key figures"><dl class="facts">
${
    fact(
      "Height",
      grouped(tip.height),
      headers > tip.height ? `of ${quantityOf(headers, "header")}` : html`last block ${ago(tip.header.time, { now })}`
    )
  }
${fact("Peers", grouped(inbound + outbound), `${grouped(outbound)} out, ${grouped(inbound)} in`)}
${namesFact(overview)}
${
    fact(
      "Mempool",
      html`<a href="${poolLink()}">${grouped(mempool.size)}</a>`,
      `${mempool.size === 1 ? "transaction" : "transactions"}, ${sizeText(mempool.bytes)}`
    )
  }
${fact("Traffic", sizeText(traffic.received), `received, ${sizeText(traffic.sent)} sent`)}
</dl></section>`
}

const blockRow = (now: number) => ({ info, operations }: ListedBlock): Html =>
  html`<tr>
<th scope="row">${blockView(info.height, grouped(info.height))}</th>
<td>${ago(info.header.time, { now })}</td>
<td class="number">${grouped(info.transactions)}</td>
<td class="number">${operations === undefined ? "–" : grouped(operations)}</td>
<td class="number wide">${info.size === 0 ? "–" : sizeText(info.size)}</td>
<td class="wide">${shortBlock(info.hash)}</td>
</tr>`

const blocks = ({ blocks, now }: Overview): Html =>
  html`<section id="blocks" class="card" aria-labelledby="blocks-title">
<h2 id="blocks-title">Recent blocks</h2>
<table><caption class="out">The last blocks, the newest first</caption>
<thead><tr><th scope="col">Height</th><th scope="col">Time</th><th scope="col" class="number"><abbr title="Transactions">Tx</abbr></th><th scope="col" class="number"><abbr title="Operations that set names">Names</abbr></th><th scope="col" class="number wide">Size</th><th scope="col" class="wide">Hash</th></tr></thead>
<tbody>${blocks.map(blockRow(now))}</tbody>
</table>
</section>`

const change = (now: number, { height, name, time, word }: ConfirmedChange): Html =>
  html`<li><a href="${nameLink(name)}">${listedName(name)}</a><span class="what">${word}${
    time !== undefined && html` ${ago(time, { now })}`
  }, ${blockView(height)}</span></li>`

const pendingChange = (now: number, { name, time, word }: PendingChange): Html =>
  html`<li><a href="${nameLink(name)}">${
    listedName(name)
  }</a><span class="what"><span class="badge busy">pending</span> ${word}, seen ${ago(time, { now })}</span></li>`

const changes = ({ changes, now, pending }: Overview): Html => {
  const hidden = pending.total - pending.newest.length
  return html`<section id="operations" class="card" aria-labelledby="operations-title">
<h2 id="operations-title">Name operations</h2>
${
    pending.total + changes.length === 0
      ? html`<p class="empty">No names were registered or updated in the last blocks.</p>`
      : html`<ul class="operations">${pending.newest.map((each) => pendingChange(now, each))}${
        hidden > 0 && html`<li><a href="${poolLink({ names: true })}">${grouped(hidden)} more pending</a></li>`
      }${changes.map((each) => change(now, each))}</ul>`
  }
</section>`
}

const milliseconds = (latency: number | undefined): string => latency === undefined ? "–" : `${grouped(latency)} ms`

const peerRow = (now: number) => ({ peer, sync }: PeerInfo): Html =>
  html`<tr>
<th scope="row" class="address">${visible(peer.name)}</th>
<td data-label="Software" class="broad address">${
    peer.hello.userAgent === "" ? "–" : visible(peer.hello.userAgent)
  }</td>
<td data-label="Direction">${peer.inbound ? "in" : "out"}</td>
<td data-label="Protocol" class="number">${String(peer.hello.version)}</td>
<td data-label="Height" class="number">${
    grouped(Math.max(0, sync.syncedHeaders, sync.syncedBlocks, peer.hello.startHeight))
  }</td>
<td data-label="Ping" class="number">${milliseconds(peer.latency.last)}</td>
<td data-label="Since">${ago(peer.connectedAt, { now })}</td>
<td data-label="Received" class="number">${sizeText(peer.traffic.bytesReceived)}</td>
<td data-label="Sent" class="number">${sizeText(peer.traffic.bytesSent)}</td>
</tr>`

const peers = ({ inbound, now, outbound, peers }: Overview): Html => {
  const hidden = inbound + outbound - peers.length
  return html`<section id="peers" class="card" aria-labelledby="peers-title">
<h2 id="peers-title">Peers</h2>
${
    peers.length === 0
      ? html`<p class="empty">No peers are connected. What the node knows stays as it is until one is.</p>`
      : html`<table class="stack"><caption class="out">Connected peers</caption>
<thead><tr><th scope="col">Address</th><th scope="col">Software</th><th scope="col">Direction</th><th scope="col" class="number">Protocol</th><th scope="col" class="number">Height</th><th scope="col" class="number">Ping</th><th scope="col">Connected</th><th scope="col" class="number">Received</th><th scope="col" class="number">Sent</th></tr></thead>
<tbody>${peers.map(peerRow(now))}</tbody>
</table>${hidden > 0 && html`<p class="muted">and ${grouped(hidden)} more</p>`}`
  }
</section>`
}

export const overviewView = (overview: Overview): Html =>
  html`${status(overview)}${expiringLine(overview)}${facts(overview)}<div class="columns">${blocks(overview)}${
    changes(overview)
  }</div>${peers(overview)}`
