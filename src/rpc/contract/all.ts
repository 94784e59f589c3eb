import type { Contract } from "../method/contract.ts"
import * as Block from "./chain/block.ts"
import * as Chain from "./chain/chain.ts"
import * as Check from "./chain/check.ts"
import * as Coin from "./chain/coin.ts"
import * as Filter from "./chain/filter.ts"
import * as Proof from "./chain/proof.ts"
import * as Scan from "./chain/scan.ts"
import * as Snapshot from "./chain/snapshot.ts"
import * as Stats from "./chain/stats.ts"
import * as Wait from "./chain/wait.ts"
import * as AlertMail from "./control/alertMail.ts"
import * as Control from "./control/control.ts"
import * as Desk from "./control/desk.ts"
import * as Dnskey from "./control/dnskey.ts"
import * as Util from "./control/util.ts"
import * as Webhook from "./control/webhook.ts"
import * as Fee from "./mempool/fee.ts"
import * as Mempool from "./mempool/mempool.ts"
import * as Offer from "./mempool/offer.ts"
import * as Spender from "./mempool/spender.ts"
import * as Aux from "./mining/aux.ts"
import * as BlockTemplate from "./mining/blockTemplate.ts"
import * as Generate from "./mining/generate.ts"
import * as Mining from "./mining/mining.ts"
import * as Expiry from "./names/expiry.ts"
import * as Find from "./names/find.ts"
import * as Lint from "./names/lint.ts"
import * as Name from "./names/name.ts"
import * as Pending from "./names/pending.ts"
import * as NameProof from "./names/proof.ts"
import * as Resolve from "./names/resolve.ts"
import * as Ban from "./network/connection.ts"
import * as Network from "./network/network.ts"
import * as PeerTest from "./network/peerTest.ts"
import * as Psbt from "./transactions/psbt.ts"
import * as PsbtUpdate from "./transactions/psbtUpdate.ts"
import * as RawTransaction from "./transactions/rawTransaction.ts"
import * as Transaction from "./transactions/transaction.ts"
import * as WalletAddress from "./wallet/address.ts"
import * as WalletAlert from "./wallet/alert.ts"
import * as WalletBalance from "./wallet/balance.ts"
import * as WalletBump from "./wallet/bump.ts"
import * as WalletDescriptor from "./wallet/descriptor.ts"
import * as WalletFund from "./wallet/fund.ts"
import * as WalletNameWallet from "./wallet/nameWallet.ts"
import * as WalletNameWrite from "./wallet/nameWrite.ts"
import * as WalletPassphrase from "./wallet/passphrase.ts"
import * as WalletPrunedFunds from "./wallet/prunedFunds.ts"
import * as WalletReceived from "./wallet/received.ts"
import * as WalletRecovery from "./wallet/recovery.ts"
import * as WalletRegistration from "./wallet/registration.ts"
import * as WalletRenewal from "./wallet/renewal.ts"
import * as WalletRescan from "./wallet/rescan.ts"
import * as WalletSend from "./wallet/sendAll.ts"
import * as WalletSigning from "./wallet/signing.ts"
import * as WalletSimplePayments from "./wallet/simplePayments.ts"
import * as WalletWalletFile from "./wallet/walletFile.ts"
import * as WalletWalletFlag from "./wallet/walletInfo.ts"
import * as WalletWalletTransaction from "./wallet/walletTransaction.ts"

const MODULES = {
  Block,
  Chain,
  Check,
  Coin,
  Filter,
  Proof,
  Scan,
  Snapshot,
  Stats,
  Wait,
  AlertMail,
  Control,
  Desk,
  Dnskey,
  Util,
  Webhook,
  Fee,
  Mempool,
  Offer,
  Spender,
  Aux,
  BlockTemplate,
  Generate,
  Mining,
  Expiry,
  Find,
  Lint,
  Name,
  Pending,
  NameProof,
  Resolve,
  Ban,
  Network,
  PeerTest,
  Psbt,
  PsbtUpdate,
  RawTransaction,
  Transaction,
  WalletAddress,
  WalletAlert,
  WalletBalance,
  WalletBump,
  WalletDescriptor,
  WalletFund,
  WalletNameWallet,
  WalletNameWrite,
  WalletPassphrase,
  WalletPrunedFunds,
  WalletReceived,
  WalletRecovery,
  WalletRegistration,
  WalletRenewal,
  WalletRescan,
  WalletSend,
  WalletSigning,
  WalletSimplePayments,
  WalletWalletFile,
  WalletWalletFlag,
  WalletWalletTransaction
}

const isContract = (value: unknown): value is Contract =>
  typeof value === "object" && value !== null && "summary" in value && "params" in value

/** In alphabetical order of their names. */
export const CONTRACTS: ReadonlyArray<Contract> = Object.values(MODULES)
  .flatMap((module): ReadonlyArray<unknown> => Object.values(module))
  .filter(isContract)
  .sort((a, b) => a.name < b.name ? -1 : 1)
