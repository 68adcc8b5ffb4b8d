/* Text that is read, compared and copied as it is: JSON, tokens, bodies, commands. */
import { ActionIcon, CopyButton, Tooltip } from '@mantine/core'
import { CheckIcon, CopyIcon } from '@primer/octicons-react'
import classes from './code-block.module.css'
import { texts } from './texts.ts'

interface CodeBlockProps {
  /** What it is, for those who cannot see it. */
  readonly name: string
  /** A text, or a value that is shown as JSON. */
  readonly value: unknown
  /** A long token without spaces is broken anywhere. */
  readonly isToken?: boolean
}

export function CodeBlock({ name, value, isToken = false }: CodeBlockProps) {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
  return (
    <div className={classes.block}>
      <pre
        className={classes.text}
        data-token={isToken ? '' : undefined}
        aria-label={name}
        role="region"
        tabIndex={0}
      >
        {typeof value === 'string' ? text : <Json text={text} />}
      </pre>
      <div className={classes.copy}>
        <CopyButton value={text} timeout={1500}>
          {({ copied, copy }) => (
            <Tooltip label={copied ? texts.copied : texts.copy}>
              <ActionIcon
                aria-label={`${copied ? texts.copied : texts.copy} ${name}`}
                onClick={copy}
                size="sm"
              >
                {copied ? <CheckIcon size={14} /> : <CopyIcon size={14} />}
              </ActionIcon>
            </Tooltip>
          )}
        </CopyButton>
      </div>
    </div>
  )
}

/** The names of members are set apart from what they hold. */
function Json({ text }: { readonly text: string }) {
  return text.split(/("(?:[^"\\]|\\.)*"(?=:))/).map((part, index) =>
    index % 2 === 1 ? (
      <span key={index} className={classes.name}>
        {part}
      </span>
    ) : (
      part
    ),
  )
}
