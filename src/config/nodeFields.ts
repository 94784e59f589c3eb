import type { OptionName } from "./options.ts"

/**
 * The options by the names that programs give them, for each part of a node. The log, and what the daemon runs, sends and publishes, are
 * not among them.
 */

export type Fields = Readonly<Record<string, OptionName>>

/** Where the chain is, and how it is kept and checked. */
export const CHAIN_FIELDS = {
  network: "network",
  dataDir: "datadir",
  sync: "sync",
  anchor: "anchor",
  loadBlocks: "loadblock",
  loadSnapshot: "loadsnapshot",
  snapshotHash: "snapshothash",
  assumeValid: "assumevalid",
  minimumChainWork: "minimumchainwork",
  maxTipAge: "maxtipage",
  verifyThreads: "verifythreads",
  dbCache: "dbcache",
  pageSize: "pagesize",
  txIndex: "txindex",
  blockFilterIndex: "blockfilterindex",
  coinStatsIndex: "coinstatsindex",
  txoSpenderIndex: "txospenderindex",
  reindex: "reindex",
  reindexChainstate: "reindex-chainstate",
  prune: "prune",
  checkBlocks: "checkblocks",
  checkLevel: "checklevel",
  backgroundCheck: "backgroundcheck",
  testActivationHeights: "testactivationheight",
  versionBits: "vbparams",
  test: "test",
  fastPrune: "fastprune",
  mockTime: "mocktime"
} as const satisfies Fields

/** The names of the chain. */
export const NAME_FIELDS = {
  reindexNames: "reindexnames",
  watch: "watch"
} as const satisfies Fields

/** Unconfirmed transactions, what they have to be, and blocks made of them. */
export const MEMPOOL_FIELDS = {
  maxMempool: "maxmempool",
  mempoolExpiry: "mempoolexpiry",
  persistMempool: "persistmempool",
  minRelayTxFee: "minrelaytxfee",
  incrementalRelayFee: "incrementalrelayfee",
  dustRelayFee: "dustrelayfee",
  acceptNonStdTxn: "acceptnonstdtxn",
  dataCarrier: "datacarrier",
  dataCarrierSize: "datacarriersize",
  permitBareMultisig: "permitbaremultisig",
  bytesPerSigop: "bytespersigop",
  limitClusterCount: "limitclustercount",
  limitClusterSize: "limitclustersize",
  blockMaxWeight: "blockmaxweight",
  blockReservedWeight: "blockreservedweight",
  blockMinTxFee: "blockmintxfee",
  blockVersion: "blockversion"
} as const satisfies Fields

/** Addresses, fees and coins of wallets. */
export const WALLET_FIELDS = {
  disableWallet: "disablewallet",
  noWallet: "nowallet",
  limitNameChains: "limitnamechains",
  addressType: "addresstype",
  changeType: "changetype",
  minTxFee: "mintxfee",
  fallbackFee: "fallbackfee",
  discardFee: "discardfee",
  consolidateFeeRate: "consolidatefeerate",
  maxTxFee: "maxtxfee",
  txConfirmTarget: "txconfirmtarget",
  walletRbf: "walletrbf",
  keypool: "keypool",
  spendZeroConfChange: "spendzeroconfchange",
  avoidPartialSpends: "avoidpartialspends",
  maxApsFee: "maxapsfee",
  walletRejectLongChains: "walletrejectlongchains",
  autoRenew: "autorenew",
  walletBroadcast: "walletbroadcast"
} as const satisfies Fields

/** Connections to the network. */
export const PEER_FIELDS = {
  maxPeers: "maxpeers",
  maxInbound: "maxinbound",
  maxOutbound: "maxoutbound",
  bootstrapPeers: "addpeer",
  seedNodes: "seednode",
  listen: "listen",
  dnsSeed: "dnsseed",
  forceDnsSeed: "forcednsseed",
  fixedSeeds: "fixedseeds",
  onlyNet: "onlynet",
  externalAddresses: "externalip",
  discover: "discover",
  connectTimeout: "timeout",
  peerTimeout: "peertimeout",
  maxUploadTarget: "maxuploadtarget",
  proxy: "proxy",
  onion: "onion",
  proxyRandomize: "proxyrandomize",
  whitelist: "whitelist",
  whitebind: "whitebind",
  whitelistRelay: "whitelistrelay",
  whitelistForceRelay: "whitelistforcerelay",
  blocksOnly: "blocksonly",
  peerBloomFilters: "peerbloomfilters",
  peerBlockFilters: "peerblockfilters",
  userAgentComments: "uacomment"
} as const satisfies Fields

/** What changes answers. */
export const ANSWER_FIELDS = {
  banTime: "bantime",
  nameHistory: "namehistory",
  nameHashIndex: "namehashindex",
  nameEncoding: "nameencoding",
  valueEncoding: "valueencoding",
  allowExpired: "allowexpired",
  requireProof: "requireproof"
} as const satisfies Fields

/** Everything that says what a node is and does, without its servers. */
export const NODE_FIELDS = {
  ...CHAIN_FIELDS,
  ...PEER_FIELDS,
  ...MEMPOOL_FIELDS,
  ...NAME_FIELDS,
  ...ANSWER_FIELDS,
  ...WALLET_FIELDS
} as const satisfies Fields

/** The listener of JSON-RPC, and the pages on it. */
export const RPC_FIELDS = {
  ...ANSWER_FIELDS,
  listenAddr: "rpcaddr",
  binds: "rpcbind",
  rpcUser: "rpcuser",
  rpcPassword: "rpcpassword",
  rpcAuth: "rpcauth",
  allowed: "rpcallowip",
  allowInsecure: "rpcallowinsecure",
  rights: "rpcrights",
  rateLimit: "ratelimit",
  maxRequestSize: "maxrequestsize",
  workQueue: "rpcworkqueue",
  serverTimeout: "rpcservertimeout",
  checkAnswers: "rpcdoccheck",
  statusPage: "statuspage",
  rest: "rest",
  webWallet: "webwallet",
  webWalletProxy: "webwalletproxy"
} as const satisfies Fields

/** The endpoint of metrics. */
export const METRICS_FIELDS = {
  listen: "metricsaddr",
  detail: "metricsdetail"
} as const satisfies Fields
