/** Whether what is typed belongs to an input. */
export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    target.closest('input, textarea, select, [contenteditable], [role=dialog]') !== null
  )
}

/** Whether the page is covered while its admin gets elsewhere what it lacks: no key leads away from it. */
export function isCovered(): boolean {
  return document.querySelector('#root[inert]') !== null
}
