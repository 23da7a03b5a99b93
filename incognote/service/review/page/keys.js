// The keys of a record.

import { assign, keyLegend } from "./panel.js";

export const QUICK = ["PERSON", "DATE", "LOCATION", "TELEPHONE_NUMBER", "MEDICAL_RECORD_NUMBER", "AGE", "HOSPITAL", "OCCUPATION", "EMAIL"];

// What a key does: [key, meaning, action, only while the record waits].
export const keysOf = view => {
  return [
    ["Move", [
      ["j k", "Next and previous span", { j: () => view.go(1), k: () => view.go(-1) }],
      ["f", "Next span that a detector was not sure about", { f: () => view.go(1, span => span.state === "doubt") }],
      ["→ ←", "Select the next or previous word; with Shift, extend the selection", { ArrowRight: event => view.word(1, event.shiftKey), ArrowLeft: event => view.word(-1, event.shiftKey) }],
      ...view.sheet?.moves || [],
      ["Shift J", "Next record of the filter", { J: () => view.turn(1) }],
      ["Shift K", "Previous record of the filter", { K: () => view.turn(-1) }],
      ["q", "Back to the queue", { q: () => view.leave() }],
    ]],
    ["Change spans", [
      ["a", "Add the selected words, or the current span if it is not replaced", { a: () => view.add() }, true],
      ["d Delete", "Remove the current span, or restore it", { d: () => view.remove(), Delete: () => view.remove() }, true],
      ...view.sheet?.changes || [],
      ["1 … 9", "Give the selected words or the current span this type", Object.fromEntries(QUICK.map((type, at) => [at + 1, () => view.apply(type)])), true],
      ["t", "Choose another type; Enter applies it", { t: () => view.type.focus() }, true],
      ["w", "Enter words to add everywhere in the record", { w: () => view.words.focus() }, true],
      ["u r", "Undo and redo", { u: () => view.undo(), r: () => view.redo() }, true],
    ]],
    ["Decide", [
      ["p", "Show, refresh or hide the preview", { p: () => view.preview() }],
      ["Shift A", "Approve: release the record", { A: () => view.decide("approve") }, true],
      ["Shift S", "Send back: move the record to the quarantine", { S: () => view.decide("reject") }, true],
      ["Shift H", "Keep held: save your corrections and go on", { H: () => view.hold() }, true],
      ["c", "Write a comment; Ctrl Enter saves it", { c: () => document.getElementById("comment").focus() }],
      ["m", "Assign the record to me", { m: () => assign(view, view.session.me.name) }],
      ["Esc", "Leave a field", {}],
      ["?", "Show these keys", { "?": () => keyLegend(keysOf(view)) }],
    ]],
  ];
};
