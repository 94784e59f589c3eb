import { METHODS_WITH_PARAMETERS } from "../../rpc/method/conversions.ts"

/** Methods of a node without parameters. Tests compare the list with the node's own table. */
const METHODS_ALONE: ReadonlyArray<string> = [
  "abortrescan",
  "clearbanned",
  "enumeratesigners",
  "getaddrmaninfo",
  "getbalances",
  "getbestblockhash",
  "getblockchaininfo",
  "getblockcount",
  "getchainstates",
  "getchaintips",
  "getcheckinfo",
  "getconnectioncount",
  "getdifficulty",
  "getinfo",
  "getmempoolinfo",
  "getmininginfo",
  "getnettotals",
  "getnetworkinfo",
  "getpeerinfo",
  "getprioritisedtransactions",
  "getprivatebroadcastinfo",
  "getrawaddrman",
  "getrpcinfo",
  "getsyncstatus",
  "getwalletinfo",
  "getzmqnotifications",
  "listaddressgroupings",
  "listbanned",
  "listlockunspent",
  "listqueuedtransactions",
  "listwalletdir",
  "listwallets",
  "listwebhooks",
  "name_checkdb",
  "ping",
  "rpc.discover",
  "savemempool",
  "testalertmail",
  "uptime",
  "walletlock"
]

/** The methods for completion, in alphabetical order. */
export const METHODS: ReadonlyArray<string> = [...METHODS_WITH_PARAMETERS, ...METHODS_ALONE].sort()
