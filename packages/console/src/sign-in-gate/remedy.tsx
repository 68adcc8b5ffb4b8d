/** Names of fields stand between backticks. */
export function Remedy({ text }: { readonly text: string }) {
  return (
    <strong>
      {text
        .split('`')
        .map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}
    </strong>
  )
}
