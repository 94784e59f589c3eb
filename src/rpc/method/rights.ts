import { USER_RIGHTS, type UserRight } from "../../config/accessKinds.ts"

/**
 * The rights of users of RPC (`-rpcrights`). Each method belongs to one right; a right does not contain another.
 */

const words = (text: string): ReadonlyArray<string> => text.trim().split(/\s+/)

/** What anyone can see: chain, names, mempool and peers, and conversions of what the caller sends. */
const READ = words(`
  analyzepsbt combinepsbt combinerawtransaction converttopsbt createmultisig createpsbt createrawtransaction
  decodepsbt decoderawtransaction decodescript deriveaddresses echo echoipc echojson estimaterawfee estimatesmartfee
  finalizepsbt getaddednodeinfo getaddrmaninfo getbestblockhash getblock getblockchaininfo getblockcount
  getblockfilter getblockhash getblockheader getblockstats getchainstates getchaintips getchaintxstats getcheckinfo
  getconnectioncount getdeploymentinfo getdescriptoractivity getdescriptorinfo getdifficulty getindexinfo getinfo
  getmemoryinfo getmempoolancestors getmempoolcluster getmempooldescendants getmempoolentry getmempoolfeeratediagram
  getmempoolinfo getmininginfo getnettotals getnetworkhashps getnetworkinfo getnodeaddresses getorphantxs getpeerinfo
  getprioritisedtransactions getprivatebroadcastinfo getrawaddrman getrawmempool getrawtransaction getrpcinfo
  getsyncstatus gettxout
  gettxoutproof gettxoutsetinfo gettxspendingprevout getzmqnotifications help joinpsbts listbanned
  listqueuedtransactions name_checkdb name_find name_history name_lint name_scan name_show namepsbt namerawtransaction ping rpc.discover
  scanblocks scantxoutset syncwithvalidationinterfacequeue testmempoolaccept uptime utxoupdatepsbt validateaddress
  verifychain verifymessage verifytxoutproof waitforblock waitforblockheight waitfornewblock
`)

/** Own names, and what they need: to see the wallet, to receive, and to unlock it. */
const NAMES = words(`
  checkrecoverywords getaddressesbylabel getaddressinfo getbalance getbalances getnewaddress getrawchangeaddress getreceivedbyaddress
  getreceivedbylabel gettransaction getwalletinfo keypoolrefill listaddressgroupings listlabels listlockunspent
  listreceivedbyaddress listreceivedbylabel listsinceblock listtransactions listunspent listwallets name_autoregister
  name_autorenew name_cancel name_expiring name_firstupdate name_list name_new name_pending name_registrations
  name_renew name_renewals name_update name_watch setlabel simulaterawtransaction walletlock walletpassphrase
`)

/** Payments: to fund, sign, send, replace and give up transactions. */
const SPEND = words(`
  abandontransaction bumpfee dequeuetransaction fundrawtransaction lockunspent psbtbumpfee queuerawtransaction send
  sendall sendmany sendrawtransaction sendtoaddress sendtoname signmessage signmessagewithprivkey
  descriptorprocesspsbt signrawtransactionwithkey signrawtransactionwithwallet submitpackage walletcreatefundedpsbt
  walletprocesspsbt
`)

/** The node itself, its peers and blocks, its wallets as files and keys. */
const ADMIN = words(`
  abortprivatebroadcast abortrescan addconnection addnode addpeeraddress addwebhook backupwallet clearbanned createauxblock
  createwallet createwalletdescriptor disconnectnode dumptxoutset encryptwallet enumeratesigners generate
  generateblock generatetoaddress generatetodescriptor getauxblock getblockfrompeer getblocktemplate gethdkeys
  importdescriptors importmempool importprunedfunds invalidateblock listdescriptors listwalletdir listwebhooks loadtxoutset
  loadwallet logging migratewallet mockscheduler preciousblock prioritisetransaction pruneblockchain reconsiderblock
  removeprunedfunds removewebhook rescanblockchain restorewallet resumewebhook savemempool sendmsgtopeer setban setmocktime setnetworkactive setwalletflag stop
  submitauxblock submitblock submitheader testalertmail testwebhook unloadwallet walletdisplayaddress walletpassphrasechange
`)

/** The methods of each right. A method that is in none of them is for users without a list of methods alone. */
export const METHODS_OF: Readonly<Record<UserRight, ReadonlyArray<string>>> = {
  read: READ,
  names: NAMES,
  spend: SPEND,
  admin: ADMIN
}

/** The right that permits a method; `undefined` for a method that is in none. */
export const rightOf = (method: string): UserRight | undefined =>
  USER_RIGHTS.find((right) => METHODS_OF[right].includes(method))
