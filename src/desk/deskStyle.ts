export const DESK_STYLE = `
.session { order: 2; display: flex; align-items: center; gap: .5rem 1rem; margin-left: auto; font-size: .92rem; }
.session form { display: inline; }
form.stacked { display: grid; gap: 1rem; justify-items: start; }
form.inline { display: inline; }
.field { display: grid; gap: .25rem; width: 100%; max-width: 44rem; }
.field > label, legend { font-weight: 600; }
.field .hint, .hint { color: var(--muted); font-size: .88rem; }
.field .wrong { color: var(--attention); font-size: .92rem; font-weight: 500; list-style: none; padding: 0; margin: 0; overflow-wrap: anywhere; }
.field input, textarea, select { width: 100%; }
textarea, select { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--muted); border-radius: .5rem; padding: .45rem .75rem; }
textarea { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .9rem; line-height: 1.5; resize: vertical; overflow-wrap: anywhere; }
[aria-invalid=true] { border-color: var(--attention); }
fieldset { border: 0; padding: 0; margin: 0; min-width: 0; display: grid; gap: .5rem; width: 100%; }
legend { padding: 0; }
.option { display: flex; gap: .6rem; align-items: baseline; }
.option .hint { display: block; }
input[type=checkbox], input[type=radio] { width: 1.1rem; height: 1.1rem; flex: none; accent-color: var(--link); transform: translateY(.15rem); padding: 0; }
.check { padding: .45rem; margin: -.45rem; display: inline-block; }
.card .card { border: 0; padding: 0; margin-top: 1rem; background: none; box-shadow: none; }
.buttons { display: flex; flex-wrap: wrap; gap: .6rem; align-items: center; }
.card > .buttons, .card > form + form, .card > p + form, .card > form + p { margin-top: 1rem; }
.fields details { width: 100%; border-top: 1px solid var(--line); padding-top: 1rem; margin: 0; }
.fields summary { font-weight: 600; }
.fields details > .field { margin-top: .8rem; }
form > table + .buttons { margin-top: .9rem; }
td.number .muted { white-space: normal; }
.words { display: flex; flex-wrap: wrap; gap: 1rem; width: 100%; max-width: 44rem; }
.words .field { flex: 1 1 11rem; }
.draft { width: 100%; }
.record pre.value { max-height: none; }
.draft pre { margin-top: .4rem; }
.meter { font-variant-numeric: tabular-nums; }
.qr { display: block; width: 100%; max-width: 16rem; height: auto; border-radius: .5rem; margin: .8rem 0; }
.big { font-size: 1.05rem; }
.alert { padding: .7rem 1rem; border-radius: .5rem; color: var(--tone); background: var(--tone-back); overflow-wrap: anywhere; }
.alert p + p { margin-top: .35rem; }
.card > h1 + form, .card > h1 + .alert, .card > .alert + form { margin-top: .9rem; }
.steps { margin: .75rem 0; padding-left: 1.4rem; display: grid; gap: .35rem; }
meter { width: 10rem; height: .9rem; vertical-align: middle; }
.draft h2 { margin-bottom: .3rem; }
.command { background: var(--code); border: 1px solid var(--line); border-radius: .5rem; padding: .6rem .75rem; margin: .6rem 0; }
button[disabled] { color: var(--muted); background: var(--back); border-style: dashed; cursor: not-allowed; }
button.primary[disabled] { color: var(--muted); background: var(--back); border-color: var(--line); }
.own { list-style: none; padding: 0; margin: 0; }
.own li { display: grid; grid-template-columns: auto minmax(8rem, 1.4fr) minmax(0, 1fr) 9rem minmax(9rem, auto); gap: .2rem .9rem; align-items: center; padding: .7rem 0; border-top: 1px solid var(--line); }
.own li:first-child { border-top: 0; padding-top: .2rem; }
.own + .buttons { border-top: 1px solid var(--line); padding-top: .9rem; }
.own .check { grid-row: span 2; }
.own-name { font-weight: 600; overflow-wrap: anywhere; text-decoration: none; }
.own-name:hover { text-decoration: underline; }
.own-value { color: var(--muted); overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.own-left { text-align: right; font-variant-numeric: tabular-nums; }
.own-act { grid-row: 1 / span 2; grid-column: 5; text-align: right; }
.own-state { grid-column: 2 / span 2; grid-row: 2; color: var(--muted); font-size: .88rem; }
.own .attention .own-state { color: var(--attention); font-weight: 500; }
.own .life { grid-column: 4; grid-row: 2; height: .4rem; margin: 0; }
.danger { display: grid; gap: .6rem; }
.danger h2 { margin: 0; }
.danger ul { list-style: none; padding: 0; margin: 0; display: grid; gap: .5rem; }
.danger li { display: flex; flex-wrap: wrap; gap: .4rem .8rem; align-items: center; justify-content: space-between; }
.danger .hint { color: inherit; }
.payments th a { text-decoration: underline; }
.login { max-width: 30rem; margin: 0 auto; width: 100%; }
@media (max-width: 44rem) {
  .session { display: grid; justify-items: start; margin-left: 0; padding: .6rem .75rem; border-top: 1px solid var(--line); }
  .own li { grid-template-columns: auto minmax(0, 1fr) auto; padding: .45rem 0; }
  .own-value { display: none; }
  .payments.brief th { flex: 1; order: -1; }
  .payments .number .muted { display: none; }
  .own-name, .own-name .name { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
  .own .life { grid-column: 2 / span 2; grid-row: 2; }
  .own .good .own-state { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .own .check { grid-row: 1; }
  .own-state { grid-column: 2 / span 2; grid-row: 3; }
  .own-act { grid-column: 2 / span 2; grid-row: 4; text-align: left; }
}
`
