/* What somebody may do whose device cannot be proven, in the order in which it is offered. */
import { ActionIcon, Button, Group, Text } from '@mantine/core'
import { ArrowDownIcon, ArrowUpIcon, PlusIcon, XIcon } from '@primer/octicons-react'
import classes from './policy.module.css'
import type { Fallback } from './policy-values.ts'
import { texts } from './texts.ts'

const { policy: words } = texts
const ALL = Object.keys(words.fallbackNames) as Fallback[]

interface LadderInputProps {
  readonly value: readonly Fallback[]
  readonly onChange: (value: Fallback[]) => void
  readonly isDisabled: boolean
}

export function LadderInput({ value, onChange, isDisabled }: LadderInputProps) {
  const move = (from: number, to: number) => {
    const next = [...value]
    next.splice(to, 0, ...next.splice(from, 1))
    onChange(next)
  }
  const absent = ALL.filter((each) => !value.includes(each))
  return (
    <div>
      <ol className={classes.ladder} aria-label={words.fallbacks}>
        {value.map((each, index) => (
          <li key={each} className={classes.rung}>
            <div>
              <span className={classes.name}>{words.fallbackNames[each]}</span>
              <p className={classes.meaning}>{words.fallbackMeanings[each]}</p>
            </div>
            <div className={classes.moves}>
              <ActionIcon
                disabled={isDisabled || index === 0}
                aria-label={words.earlier(words.fallbackNames[each])}
                onClick={() => move(index, index - 1)}
              >
                <ArrowUpIcon />
              </ActionIcon>
              <ActionIcon
                disabled={isDisabled || index === value.length - 1}
                aria-label={words.later(words.fallbackNames[each])}
                onClick={() => move(index, index + 1)}
              >
                <ArrowDownIcon />
              </ActionIcon>
              <ActionIcon
                disabled={isDisabled}
                aria-label={words.drop(words.fallbackNames[each])}
                onClick={() => onChange(value.filter((other) => other !== each))}
              >
                <XIcon />
              </ActionIcon>
            </div>
          </li>
        ))}
        <li className={classes.rung} data-end>
          <div>
            <span className={classes.name}>{words.refuse}</span>
            <p className={classes.meaning}>
              {value.length === 0 ? words.refuseAtOnce : words.refuseAtLast}
            </p>
          </div>
        </li>
      </ol>
      {absent.length === 0 ? null : (
        <Group gap="xs" mt="sm">
          <Text size="sm" c="dimmed">
            {words.add}
          </Text>
          {absent.map((each) => (
            <Button
              key={each}
              size="compact-sm"
              variant="default"
              leftSection={<PlusIcon size={14} />}
              disabled={isDisabled}
              onClick={() => onChange([...value, each])}
            >
              {words.fallbackNames[each]}
            </Button>
          ))}
        </Group>
      )}
    </div>
  )
}
