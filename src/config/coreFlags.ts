/** Flags of the reference node that svcd lacks, with their substitutes (docs/from-namecoin-core.md). */
const SERVICE = "svcd stays in the foreground; a service manager starts it in the background (contrib/systemd)"

const CORE_FLAGS: ReadonlyMap<string, string> = new Map([
  ["addnode", "write -addpeer HOST:PORT, or call the method addnode; with -addpeer svcd connects to no other peers"],
  ["bind", "write -listen HOST:PORT, and -whitebind for further addresses"],
  ["blocksdir", "blocks are in the data directory; -datadir PATH moves it"],
  ["chain", "write -network NAME"],
  ["conf", "write -datadir PATH; svcd.conf in it is read"],
  ["connect", "write -addpeer HOST:PORT; with it svcd connects to no other peers"],
  ["daemon", SERVICE],
  ["daemonwait", SERVICE],
  ["debug", "write -debugsubsystem NAME or -loglevel debug"],
  ["debuglogfile", "write -logfile PATH"],
  ["includeconf", "svcd reads one file, svcd.conf in the data directory: write the lines there"],
  ["limitancestorcount", "write -limitclustercount N"],
  ["limitdescendantcount", "write -limitclustercount N"],
  ["loglevelalways", "write -loglevel NAME"],
  ["maxconnections", "write -maxpeers N"],
  ["noonion", "write -onion=0"],
  ["noproxy", "write -proxy=0"],
  ["paytxfee", "each payment has its fee_rate, or an estimate: see -fallbackfee"],
  ["port", "write -listen :PORT"],
  ["printtoconsole", "the log goes to standard error, or to -logfile PATH"],
  ["regtest", "write -network regtest"],
  ["rpcport", "write -rpcaddr HOST:PORT"],
  ["server", "leave it out: svcd always has the RPC listener"],
  ["testnet", "write -network testnet"],
  ["wallet", "svcd loads wallet.json, or none with -nowallet; the method loadwallet loads others"]
])

/** Proposes the counterpart and not a similar word, which may do something else. */
export const translatedBy = (counterparts: ReadonlyMap<string, string>) => (problem: string): string => {
  const flag = /^--?([a-z]+): unknown flag/.exec(problem)?.[1]
  const hint = flag === undefined ? undefined : counterparts.get(flag) ?? counterparts.get(flag.replace(/^no/, ""))
  return hint === undefined ? problem : `-${flag}: unknown flag; ${hint}`
}

export const translatedFlag = translatedBy(CORE_FLAGS)

/** The substitute for a key of the reference node's file; `undefined` for another key. */
export const keyHint = (key: string): string | undefined => CORE_FLAGS.get(key)
