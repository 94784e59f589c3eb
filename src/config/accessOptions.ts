import * as AccessKind from "./accessKinds.ts"
import * as Kind from "./kinds.ts"
import { inGroup, listOption, oneOption } from "./optionRow.ts"

/** The users of the machine that a cookie file can be for. */
export const COOKIE_READERS = ["owner", "group", "all"] as const

export const ACCESS_OPTIONS = inGroup("RPC", {
  rpcauth: listOption(AccessKind.hashedUserKind, "rpc.rpcAuth", {
    description: "user with the hash of the password, as svcd-cli rpcauth makes it; may be repeated",
    secret: true,
    defaultNote: "no such user"
  }),
  rpccookie: oneOption(Kind.onOffKind, "cookie.isWanted", {
    description:
      "ask every caller for credentials, and write some to the cookie file; without it that happens if there is " +
      "-rpcauth, or a listener that other machines can reach, and no -rpcpassword"
  }),
  rpccookiefile: oneOption(Kind.optionalKind(Kind.dataPathKind), "cookie.file", {
    description: "the cookie file, relative to the data directory; empty for none",
    default: ".cookie"
  }),
  rpccookieperms: oneOption(Kind.choiceKind(COOKIE_READERS), "cookie.readers", {
    description: "users of the machine that may read the cookie file",
    default: "owner"
  }),
  rpcwhitelist: listOption(AccessKind.methodListKind, "methods.whitelists", {
    description: "methods that a user may call, as USER:METHOD,METHOD; may be repeated",
    defaultNote: "all methods"
  }),
  rpcwhitelistdefault: oneOption(Kind.optionalKind(Kind.onOffKind), "methods.byDefault", {
    description: "refuse all methods to users without -rpcwhitelist and -rpcrights",
    defaultNote: "on if one of them is given"
  }),
  rpcrights: listOption(AccessKind.rightsKind, "rpc.rights", {
    description: `rights of a user, as USER:RIGHT,RIGHT, out of ${AccessKind.USER_RIGHTS.join(", ")}; may be repeated`,
    defaultNote: "all rights"
  }),
  rpcbind: listOption(Kind.addressKind("optional"), "rpc.binds", {
    description: "further address of the RPC listener; may be repeated",
    defaultNote: "rpcaddr alone"
  }),
  rpcallowip: listOption(AccessKind.netKind, "rpc.allowed", {
    description: "address or network whose callers are answered, besides this machine; may be repeated",
    defaultNote: "every address"
  }),
  webwallet: oneOption(Kind.onOffKind, "rpc.webWallet", {
    description:
      "serve the desk, pages for a wallet and its names, below /desk/ of the RPC listener; callers then need credentials"
  }),
  webwalletproxy: oneOption(Kind.onOffKind, "rpc.webWalletProxy", {
    description: "let browsers of other machines use the desk through a proxy that ends TLS and sets X-Forwarded-Proto"
  }),
  rpcworkqueue: oneOption(Kind.integerKind({ min: 1, max: 100_000 }), "rpc.workQueue", {
    description: "calls that may run or wait at one time; beyond that, the oldest of the user with the most gets 503",
    default: "1024"
  }),
  rpcservertimeout: oneOption(Kind.integerKind({ min: 1, max: 2_000_000 }), "rpc.serverTimeout", {
    description: "seconds after which an idle connection, or one with an incomplete request, is closed",
    default: "30"
  }),
  rpcdoccheck: oneOption(Kind.onOffKind, "rpc.checkAnswers", {
    description:
      "compare each answer with the result that its method documents, and answer -32603 if it is another; for tests"
  })
})
