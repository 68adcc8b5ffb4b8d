/* A text in Markdown: written, and looked at as its reader will see it. */
import { Group, Input, SegmentedControl, Text, Textarea } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import { Markdown } from './markdown.tsx'
import classes from './markdown.module.css'
import { texts } from './texts.ts'

interface MarkdownEditorProps {
  readonly label: string
  readonly description?: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly error?: ReactNode
  readonly disabled?: boolean
  readonly maxLength?: number
  /** The focus comes here when it appears. */
  readonly isFocused?: boolean
}

export function MarkdownEditor(props: MarkdownEditorProps) {
  const { label, description, value, onChange, error, disabled = false, maxLength } = props
  const [isPreview, setPreview] = useState(false)
  return (
    <div>
      <Group justify="space-between" align="flex-end" gap="xs" mb={4}>
        <Input.Label labelElement="div">{label}</Input.Label>
        <SegmentedControl
          size="xs"
          aria-label={texts.formOf(label)}
          value={isPreview ? 'preview' : 'write'}
          onChange={(next) => setPreview(next === 'preview')}
          data={[
            { value: 'write', label: texts.write },
            { value: 'preview', label: texts.preview },
          ]}
        />
      </Group>
      {isPreview ? (
        <div className={classes.well} role="region" aria-label={texts.previewOf(label)}>
          {value.trim() === '' ? (
            <Text size="sm" c="dimmed">
              {texts.nothingToPreview}
            </Text>
          ) : (
            <Markdown text={value} />
          )}
        </div>
      ) : (
        <Textarea
          aria-label={label}
          description={description}
          value={value}
          onChange={(event) => onChange(event.currentTarget.value)}
          error={error}
          disabled={disabled}
          {...(maxLength === undefined ? {} : { maxLength })}
          {...(props.isFocused === true ? { 'data-autofocus': true, autoFocus: true } : {})}
          autosize
          minRows={3}
          maxRows={14}
        />
      )}
    </div>
  )
}
