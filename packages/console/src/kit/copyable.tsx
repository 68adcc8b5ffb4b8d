/* Ids and other texts that are copied with a click. */
import { CopyButton, Tooltip, UnstyledButton } from '@mantine/core'
import { CheckIcon, CopyIcon } from '@primer/octicons-react'
import classes from './copyable.module.css'
import { texts } from './texts.ts'

interface CopyableProps {
  /** What is copied. */
  readonly value: string
  /** What is shown; the value when left out. */
  readonly label?: string
  /** What must be read as a whole goes on in the next line; else it is cut off where there is no room. */
  readonly isWhole?: boolean
}

export function Copyable({ value, label = value, isWhole = false }: CopyableProps) {
  return (
    <CopyButton value={value} timeout={1500}>
      {({ copied, copy }) => (
        <Tooltip label={copied ? texts.copied : texts.copy}>
          <UnstyledButton
            className={classes.copyable}
            onClick={(event) => {
              event.stopPropagation()
              copy()
            }}
            aria-label={`${copied ? texts.copied : texts.copy} ${label}`}
          >
            <span className={classes.text} data-whole={isWhole ? '' : undefined}>
              {label}
            </span>
            {copied ? <CheckIcon size={13} /> : <CopyIcon size={13} />}
          </UnstyledButton>
        </Tooltip>
      )}
    </CopyButton>
  )
}
