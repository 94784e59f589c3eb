/**
 * What the log, `svcd-cli status`, `svcd-cli names` and name_autoregister say about a wallet whose recovery words were never
 * shown and whose file was never copied. It stands here, because svcd-cli does not load the wallet.
 */
export const UNSEEN_WORDS =
  "the words of the wallet were never shown: without them or a backup, a lost disk loses its coins and names. " +
  "Run \"svcd-wallet export --phrase\", or call backupwallet"
