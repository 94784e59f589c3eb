import { type Json, JsonObject } from "../json/json.ts"
import { parseJson } from "../json/readJson.ts"

/**
 * Converts command-line arguments to the parameters of a method (reference/rpc.md 8). The client does not have the
 * node's method table: it also calls other daemons.
 */

/**
 * A parameter is text, JSON, or JSON with text as the fallback. "any text" may have an equals sign, such as a label or a
 * password: with -named it is not taken for a misspelled name.
 */
type Format = "text" | "any text" | "text or null" | "json" | "json or text"

interface Parameter {
  readonly names: ReadonlyArray<string>
  readonly format: Format
}

interface Parameters {
  readonly byPosition: ReadonlyArray<Parameter>
  /** Members of an options object that may also be named. */
  readonly byName: ReadonlyArray<Parameter>
}

/**
 * The parameters of the methods of reference/rpc.md 3 in their order. `|` separates aliases. The members of the options
 * object follow a colon. Marks: `*` JSON, `?` JSON or text, `=` text that may have an equals sign (upstream
 * `rpc/client.cpp`, `ParamFormat::STRING`), `!` text or the word null.
 */
const PARAMETERS: Readonly<Record<string, string>> = {
  abandontransaction: "txid",
  abortprivatebroadcast: "id",
  addconnection: "address connection_type v2transport*",
  addnode: "node command v2transport*",
  addpeeraddress: "address port* tried*",
  addwebhook: "url= options* : secret= name? prefix? owner? types? from",
  analyzepsbt: "psbt=",
  backupwallet: "destination=",
  bumpfee: "txid options* : conf_target* fee_rate* replaceable* estimate_mode outputs* original_change_index*",
  checkrecoverywords: "words*",
  combinepsbt: "txs*",
  combinerawtransaction: "txs*",
  converttopsbt: "hexstring permitsigdata* iswitness*",
  createauxblock: "address",
  createmultisig: "nrequired* keys* address_type",
  createpsbt: "inputs* outputs* locktime* replaceable* version*",
  createrawtransaction: "inputs* outputs* locktime* replaceable* version*",
  createwallet: "wallet_name= disable_private_keys* blank* passphrase= avoid_reuse* descriptors* load_on_startup* " +
    "external_signer*",
  createwalletdescriptor: "type options* : internal* hdkey",
  decodepsbt: "psbt=",
  decoderawtransaction: "hexstring iswitness*",
  decodescript: "hexstring",
  dequeuetransaction: "txid",
  deriveaddresses: "descriptor range*",
  descriptorprocesspsbt: "psbt= descriptors* sighashtype= bip32derivs* finalize*",
  disconnectnode: "address nodeid*",
  dumptxoutset: "path= type= options* : rollback?",
  echo: "arg0 arg1 arg2 arg3 arg4 arg5 arg6 arg7 arg8 arg9",
  echoipc: "arg=",
  echojson: "arg0* arg1* arg2* arg3* arg4* arg5* arg6* arg7* arg8* arg9*",
  encryptwallet: "passphrase=",
  estimaterawfee: "conf_target* threshold*",
  estimatesmartfee: "conf_target* estimate_mode",
  finalizepsbt: "psbt= extract*",
  fundrawtransaction: "hexstring options* iswitness* : add_inputs* include_unsafe* minconf* maxconf* changeAddress " +
    "changePosition* change_type includeWatching* lockUnspents* fee_rate* feeRate* subtractFeeFromOutputs* " +
    "input_weights* max_tx_weight* conf_target* estimate_mode replaceable* solving_data*",
  generateblock: "output transactions* submit*",
  generatetoaddress: "nblocks* address maxtries*",
  generatetodescriptor: "num_blocks* descriptor maxtries*",
  getaddednodeinfo: "node",
  getaddressesbylabel: "label=",
  getaddressinfo: "address",
  getauxblock: "hash auxpow",
  getbalance: "dummy minconf* include_watchonly* avoid_reuse*",
  getblock: "blockhash verbosity|verbose*",
  getblockfilter: "blockhash filtertype",
  getblockfrompeer: "blockhash peer_id*",
  getblockhash: "height*",
  getblockheader: "blockhash verbose*",
  getblockstats: "hash_or_height? stats*",
  getblocktemplate: "template_request*",
  getchaintxstats: "nblocks* blockhash",
  getdeploymentinfo: "blockhash",
  getdescriptoractivity: "blockhashes* scanobjects* include_mempool*",
  getdescriptorinfo: "descriptor",
  gethdkeys: "options* : active_only* private*",
  getindexinfo: "index_name",
  getmemoryinfo: "mode",
  getmempoolancestors: "txid verbose*",
  getmempoolcluster: "txid",
  getmempooldescendants: "txid verbose*",
  getmempoolentry: "txid",
  getnetworkhashps: "nblocks* height*",
  getnewaddress: "label= address_type=",
  getnodeaddresses: "count* network",
  getorphantxs: "verbosity*",
  getrawchangeaddress: "address_type",
  getrawmempool: "verbose* mempool_sequence*",
  getrawtransaction: "txid verbosity|verbose* blockhash",
  getreceivedbyaddress: "address minconf* include_immature_coinbase*",
  getreceivedbylabel: "label= minconf* include_immature_coinbase*",
  gettransaction: "txid include_watchonly* verbose*",
  gettxout: "txid n* include_mempool*",
  gettxoutproof: "txids* blockhash",
  gettxoutsetinfo: "hash_type hash_or_height? use_index*",
  gettxspendingprevout: "outputs* options* : mempool_only* return_spending_tx*",
  help: "command",
  importdescriptors: "requests*",
  importmempool: "filepath= options* : use_current_time* apply_fee_delta_priority* apply_unbroadcast_set*",
  importprunedfunds: "rawtransaction txoutproof",
  invalidateblock: "blockhash",
  joinpsbts: "txs*",
  keypoolrefill: "newsize*",
  listdescriptors: "private*",
  listlabels: "purpose",
  listreceivedbyaddress: "minconf* include_empty* include_watchonly* address_filter include_immature_coinbase*",
  listreceivedbylabel: "minconf* include_empty* include_watchonly* include_immature_coinbase*",
  listsinceblock: "blockhash= target_confirmations* include_watchonly* include_removed* include_change* label=",
  listtransactions: "label= count* skip* include_watchonly*",
  listunspent: "minconf* maxconf* addresses* include_unsafe* query_options* : minimumAmount* maximumAmount* " +
    "maximumCount* minimumSumAmount* include_immature_coinbase* includeNames*",
  loadtxoutset: "path=",
  loadwallet: "filename= load_on_startup*",
  lockunspent: "unlock* transactions* persistent*",
  logging: "include* exclude*",
  migratewallet: "wallet_name= passphrase=",
  mockscheduler: "delta_time*",
  name_autoregister: "name value options*",
  name_autorenew: "name! on* options*",
  name_cancel: "name options*",
  name_expiring: "query* : blocks* owner mine* watched* limit* cursor nameEncoding valueEncoding",
  name_find: "query* : text key value owner namespace changedSince* expiresWithin* includeExpired* limit* cursor " +
    "nameEncoding valueEncoding",
  name_firstupdate: "name rand tx value options* allow_active*",
  name_history: "name options*",
  name_lint: "name value options*",
  name_list: "name options*",
  name_new: "name options*",
  name_pending: "name options*",
  name_registrations: "options*",
  name_renew: "names? options*",
  name_renewals: "options*",
  name_scan: "start count* options*",
  name_show: "name options*",
  name_update: "name value options*",
  name_watch: "command names? options*",
  namepsbt: "psbt vout* nameop*",
  namerawtransaction: "hexstring vout* nameop*",
  preciousblock: "blockhash",
  prioritisetransaction: "txid dummy* fee_delta*",
  pruneblockchain: "height*",
  psbtbumpfee: "txid options* : conf_target* fee_rate* replaceable* estimate_mode outputs* original_change_index*",
  queuerawtransaction: "hexstring",
  reconsiderblock: "blockhash",
  removeprunedfunds: "txid",
  removewebhook: "id",
  rescanblockchain: "start_height* stop_height*",
  restorewallet: "wallet_name= backup_file= load_on_startup*",
  resumewebhook: "id options* : from",
  scanblocks: "action scanobjects* start_height* stop_height* filtertype options* : filter_false_positives*",
  scantxoutset: "action scanobjects*",
  send: "outputs* conf_target* estimate_mode fee_rate* options* version* : add_inputs* include_unsafe* minconf* " +
    "maxconf* add_to_wallet* change_address change_position* change_type fee_rate* include_watching* inputs* " +
    "locktime* lock_unspents* psbt* subtract_fee_from_outputs* max_tx_weight* conf_target* estimate_mode " +
    "replaceable* solving_data*",
  sendall: "recipients* conf_target* estimate_mode fee_rate* options* : add_to_wallet* fee_rate* include_watching* " +
    "inputs* locktime* lock_unspents* psbt* send_max* minconf* maxconf* version* conf_target* estimate_mode " +
    "replaceable* solving_data*",
  sendmany: "dummy= amounts* minconf* comment= subtractfeefrom* replaceable* conf_target* estimate_mode= fee_rate* " +
    "verbose*",
  sendmsgtopeer: "peer_id* msg_type msg",
  sendrawtransaction: "hexstring maxfeerate* maxburnamount*",
  sendtoaddress:
    "address= amount* comment= comment_to= subtractfeefromamount* replaceable* conf_target* estimate_mode= " +
    "avoid_reuse* fee_rate* verbose*",
  sendtoname: "name amount* comment comment_to subtractfeefromamount* replaceable*",
  setban: "subnet command bantime* absolute*",
  setlabel: "address label=",
  setmocktime: "timestamp*",
  setnetworkactive: "state*",
  setwalletflag: "flag newvalue*",
  signmessage: "address message=",
  signmessagewithprivkey: "privkey message=",
  signrawtransactionwithkey: "hexstring privkeys* prevtxs* sighashtype",
  signrawtransactionwithwallet: "hexstring prevtxs* sighashtype",
  simulaterawtransaction: "rawtxs* options* : include_watchonly*",
  stop: "wait*",
  submitauxblock: "hash auxpow",
  submitblock: "hexdata dummy",
  submitheader: "hexdata",
  submitpackage: "package* maxfeerate* maxburnamount*",
  testmempoolaccept: "rawtxs* maxfeerate*",
  testwebhook: "id",
  unloadwallet: "wallet_name= load_on_startup*",
  utxoupdatepsbt: "psbt= descriptors*",
  validateaddress: "address",
  verifychain: "checklevel* nblocks*",
  verifymessage: "address signature= message=",
  verifytxoutproof: "proof",
  waitforblock: "blockhash timeout*",
  waitforblockheight: "height* timeout*",
  waitfornewblock: "timeout* current_tip",
  walletcreatefundedpsbt:
    "inputs* outputs* locktime* options* bip32derivs* version* : add_inputs* include_unsafe* minconf* " +
    "maxconf* changeAddress changePosition* change_type includeWatching* lockUnspents* fee_rate* feeRate* " +
    "subtractFeeFromOutputs* max_tx_weight* conf_target* estimate_mode replaceable* solving_data*",
  walletdisplayaddress: "address",
  walletpassphrase: "passphrase= timeout* renewalsonly*",
  walletpassphrasechange: "oldpassphrase= newpassphrase=",
  walletprocesspsbt: "psbt= sign* sighashtype= bip32derivs* finalize*"
}

/** Parameters that are passphrases, private keys, recovery words, or descriptors, which may have private keys. */
const SECRET_PARAMETER =
  /passphrase|privkey|hdkey|secret|solving_data|descriptor|scanobjects|\brequests\b|\bwords\b|\boutput\b/

/** Whether a method takes secrets. No error repeats an argument of it: one of them may be in the wrong place. */
export const takesSecrets = (method: string): boolean =>
  Object.hasOwn(PARAMETERS, method) && SECRET_PARAMETER.test(PARAMETERS[method] ?? "")

export const METHODS_WITH_PARAMETERS: ReadonlyArray<string> = Object.keys(PARAMETERS)

const FORMATS: ReadonlyMap<string, Format> = new Map([
  ["*", "json"],
  ["?", "json or text"],
  ["=", "any text"],
  ["!", "text or null"]
])

const parameter = (word: string): Parameter => {
  const format = FORMATS.get(word.at(-1) ?? "") ?? "text"
  return { names: (format === "text" ? word : word.slice(0, -1)).split("|"), format }
}

const wordsOf = (text: string): ReadonlyArray<string> => text.split(" ").filter((word) => word !== "")

/** The parameters of a method; `undefined` if it is not in the table. */
const parametersOf = (method: string): Parameters | undefined => {
  if (!Object.hasOwn(PARAMETERS, method)) return undefined
  const [positions = "", members = ""] = (PARAMETERS[method] ?? "").split(":")
  return { byPosition: wordsOf(positions).map(parameter), byName: wordsOf(members).map(parameter) }
}

export interface BadArgument {
  readonly _tag: "BadArgument"
  readonly argument: string
  /** Its place among the arguments, from 0. */
  readonly place: number
}

const read = (format: Format, argument: string, place: number): Json | BadArgument => {
  if (format === "text" || format === "any text") return argument
  if (format === "text or null") return argument === "null" ? null : argument
  const value = parseJson(argument)
  if (value !== undefined) return value
  return format === "json" ? { _tag: "BadArgument", argument, place } : argument
}

const isBad = (value: Json | BadArgument): value is BadArgument =>
  typeof value === "object" && value !== null && "_tag" in value

/** The format at a position. For an unknown method, and beyond the known parameters, the text decides. */
const formatAt = (parameters: Parameters | undefined, position: number): Format =>
  parameters?.byPosition[position]?.format ?? "json or text"

/** Returns the parameters of a call by position, or the first argument that should be JSON and is not. */
export const byPosition = (method: string, args: ReadonlyArray<string>): ReadonlyArray<Json> | BadArgument => {
  const parameters = parametersOf(method)
  const values: Array<Json> = []
  for (const [position, argument] of args.entries()) {
    const value = read(formatAt(parameters, position), argument, position)
    if (isBad(value)) return value
    values.push(value)
  }
  return values
}

/**
 * Returns the parameters of a call by name, from arguments of the form `name=value`. An argument without an equals sign
 * is positional. An argument with an unknown name before the sign is positional too, if the next position accepts the
 * whole: a label such as `my=wallet`, or JSON. Otherwise the daemon gets the name and refuses it.
 */
export const byName = (method: string, args: ReadonlyArray<string>): JsonObject | BadArgument => {
  const parameters = parametersOf(method)
  const named = new JsonObject()
  const positional: Array<Json> = []
  for (const [place, argument] of args.entries()) {
    const split = readNamed(parameters, argument, positional.length)
    const value = read(split.format, split.text, place)
    if (isBad(value)) return value
    if (split.name === undefined) positional.push(value)
    else {
      named.keys.push(split.name)
      named.values.push(value)
    }
  }
  if (positional.length > 0) {
    named.keys.push("args")
    named.values.push(positional)
  }
  return named
}

interface NamedArgument {
  /** `undefined` for a positional argument. */
  readonly name: string | undefined
  readonly text: string
  readonly format: Format
}

const readNamed = (parameters: Parameters | undefined, argument: string, position: number): NamedArgument => {
  const sign = argument.indexOf("=")
  const whole: NamedArgument = { name: undefined, text: argument, format: formatAt(parameters, position) }
  if (sign < 0) return whole
  const name = argument.slice(0, sign)
  const known = [...parameters?.byPosition ?? [], ...parameters?.byName ?? []].find(({ names }) => names.includes(name))
  if (known !== undefined) return { name, text: argument.slice(sign + 1), format: known.format }
  const next = parameters?.byPosition[position]
  if (next?.format === "any text") return whole
  if (next?.format.startsWith("json") === true && parseJson(argument) !== undefined) return whole
  return { name, text: argument.slice(sign + 1), format: "json or text" }
}
