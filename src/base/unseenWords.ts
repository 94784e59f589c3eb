/**
 * What the log, `svcd-cli status`, `svcd-cli names` and name_autoregister say about a wallet whose recovery words were never
 * shown and whose file was never copied. It stands here, because svcd-cli does not load the wallet.
 */
export const UNSEEN_WORDS =
  "the seed phrase of the wallet was never shown: without it or a backup, a disk failure loses its coins and names. " +
  "Run \"svcd-wallet export --phrase\", or call backupwallet"
