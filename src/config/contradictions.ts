import { formatHostPort, isLoopback, overlap } from "../base/addresses.ts"
import { shortAmount } from "../protocol/amount.ts"
import { wantsCookie } from "./cookie.ts"
import type { Issue } from "./decode.ts"
import { dnsContradictions, dnsListenersOf } from "./dnsSettings.ts"
import { electrumContradictions } from "./electrumSettings.ts"
import { type Listener, takenIssues } from "./listeners.ts"
import type { OptionName } from "./options.ts"
import { peerContradictions } from "./peerSettings.ts"
import { withoutPort } from "./permissions.ts"
import type { GivenSettings } from "./settings.ts"

/** Contradictions between values that are each valid. */

export const halfCredentials = (
  { rpcPassword, rpcUser }: Pick<GivenSettings["rpc"], "rpcPassword" | "rpcUser">
): ReadonlyArray<Issue> => {
  if ((rpcUser === undefined) === (rpcPassword === undefined)) return []
  const [given, missing] = rpcUser === undefined
    ? ["rpcpassword", "rpcuser"] as const
    : ["rpcuser", "rpcpassword"] as const
  return [[given, `is given without ${missing}; RPC needs both or neither`]]
}

/** The desk needs credentials, a wallet, and TLS for access from other machines. */
const deskIssues = (settings: GivenSettings): ReadonlyArray<Issue> => {
  const { binds, listenAddr, rpcAuth, rpcPassword, webWallet, webWalletProxy } = settings.rpc
  if (!webWallet) return []
  const issues: Array<Issue> = []
  const complain = (name: OptionName, message: string): void => void issues.push([name, message])
  if (rpcPassword === undefined && rpcAuth.length === 0 && !wantsCookie(settings)) {
    complain("webwallet", "needs credentials to log in with, and rpccookiefile is empty; set rpcauth or rpcuser")
  }
  if (settings.wallet.disableWallet) complain("webwallet", "is for wallets, and disablewallet turns them off")
  const open = webWalletProxy ? undefined : [listenAddr, ...binds].find(({ host }) => !isLoopback(host))
  if (open !== undefined) {
    complain(
      "webwallet",
      `is for browsers of this machine, and RPC listens on ${
        formatHostPort(open)
      }, which is open to others; listen on ` +
        "127.0.0.1, or put a proxy with TLS in front and set webwalletproxy"
    )
  }
  return issues
}

export const contradictions = (settings: GivenSettings): ReadonlyArray<Issue> => {
  const { chain, cookie, mempool, methods, peers, rpc, wallet } = settings
  const { network } = chain
  const { listen } = peers
  const metricsaddr = settings.metrics.listen
  const issues: Array<Issue> = []
  const complain = (name: OptionName, message: string): void => void issues.push([name, message])

  const listeners = [
    { name: "rpcaddr", address: rpc.listenAddr } as const,
    ...rpc.binds.map((address) => ({ name: "rpcbind", address }) as const)
  ]
  issues.push(...halfCredentials(rpc), ...deskIssues(settings))
  const isOpen = rpc.rpcUser === undefined && rpc.rpcPassword === undefined && rpc.rpcAuth.length === 0
  if (cookie.isWanted && rpc.rpcPassword !== undefined) {
    complain("rpccookie", "makes a password, and rpcpassword is set; give one of the two")
  }
  if (cookie.isWanted && cookie.file === undefined) {
    complain("rpccookie", "needs a file, and rpccookiefile is empty")
  } else if (isOpen && !wantsCookie(settings) && !rpc.allowInsecure) {
    for (const { address, name } of listeners.filter(({ address }) => !isLoopback(address.host))) {
      complain(
        name,
        `${formatHostPort(address)} is open to other machines, and there are no credentials; ` +
          "set rpcuser and rpcpassword, or rpcauth, or rpccookiefile, or rpcallowinsecure"
      )
    }
  }
  const all: ReadonlyArray<Listener> = [
    ...listen !== undefined && peers.maxPeers > 0 ? [{ name: "listen", address: listen } as const] : [],
    ...listeners,
    ...metricsaddr === undefined ? [] : [{ name: "metricsaddr", address: metricsaddr } as const]
  ]
  issues.push(...takenIssues(all))
  if (isOpen && !wantsCookie(settings)) {
    for (const [name, given] of [["rpcwhitelist", methods.whitelists], ["rpcrights", rpc.rights]] as const) {
      if (given.length === 0) continue
      complain(
        name,
        "is for users, and callers need no credentials; set rpccookie, rpcauth, or rpcuser and rpcpassword"
      )
    }
  }
  issues.push(...dnsContradictions(settings.dns, all))
  issues.push(...electrumContradictions(settings.electrum, [...all, ...dnsListenersOf(settings.dns)]))
  if (network === "mainnet" && mempool.acceptNonStdTxn) {
    complain("acceptnonstdtxn", "is for regtest and testnet, and the network is mainnet")
  }
  if (wallet.maxTxFee < mempool.minRelayTxFee) {
    complain(
      "maxtxfee",
      `${shortAmount(wallet.maxTxFee)} is below minrelaytxfee ${shortAmount(mempool.minRelayTxFee)}, ` +
        "and peers would relay no transaction of a wallet"
    )
  }
  if (chain.prune !== 0) {
    const others = [
      ["txindex", chain.txIndex],
      ["txospenderindex", chain.txoSpenderIndex],
      ["electrumindex", chain.electrumIndex],
      ["reindex-chainstate", chain.reindexChainstate]
    ] as const
    for (const [name, isOn] of others) {
      if (!isOn) continue
      const remedy = name === "reindex-chainstate" ? ". Use full -reindex instead." : "."
      complain("prune", `Prune mode is incompatible with -${name}${remedy}`)
    }
  }
  if (chain.loadSnapshot !== undefined) {
    const others = [["reindex", chain.reindex], ["reindex-chainstate", chain.reindexChainstate]] as const
    for (const [name, isOn] of others) {
      if (!isOn) continue
      complain("loadsnapshot", `cannot be given with ${name}, which rebuilds the chain state from the stored blocks`)
    }
    if (chain.sync === "light") complain("loadsnapshot", "is for sync full: a light node keeps no coins")
  }
  if (chain.electrumIndex && chain.sync === "light") {
    complain("electrumindex", "is for sync full: a light node keeps no blocks to index; set sync full, or leave it out")
  }
  issues.push(...peerContradictions(peers))
  for (const entry of peers.whitebind) {
    if (listen === undefined) {
      complain("whitebind", "Cannot set -bind or -whitebind together with -listen=0; remove the empty listen")
    }
    if (entry.address.port === 0) complain("whitebind", withoutPort(entry))
    for (const { address, name } of listeners.filter((each) => overlap(entry.address, each.address))) {
      complain("whitebind", `${formatHostPort(entry.address)} is taken by ${name} ${formatHostPort(address)}`)
    }
  }
  if (network !== "regtest") {
    const onRegtestOnly = `is for regtest alone, and the network is ${network}`
    if (chain.mockTime !== 0) complain("mocktime", onRegtestOnly)
    if (chain.fastPrune) complain("fastprune", onRegtestOnly)
    if (chain.testActivationHeights.length > 0) complain("testactivationheight", onRegtestOnly)
    if (mempool.blockVersion !== 0) complain("blockversion", onRegtestOnly)
    if (chain.versionBits.length > 0) complain("vbparams", onRegtestOnly)
    if (chain.test.length > 0) complain("test", `${onRegtestOnly}; for testnet write -network testnet`)
  }
  return issues
}
