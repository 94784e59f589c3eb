#!/usr/bin/env node
import { run } from "./announcedTool.ts"

run({
  name: "svcd-mail",
  purpose: "Forwards mail to the address that the owner of a name has put into its value.",
  subCommands: {
    register: "prepare a new name with an address to forward to",
    update: "prepare a change of the address, or of the backup addresses",
    lookup: "show where mail to a name goes",
    serve: "run the SMTP relay"
  }
})
