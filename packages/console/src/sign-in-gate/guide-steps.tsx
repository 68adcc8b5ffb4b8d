/* What is done at the other side, step by step, with the values to copy. */
import { CodeBlock } from '../kit/code-block.tsx'
import { Copyable } from '../kit/copyable.tsx'
import { Secret } from '../kit/secret.tsx'
import classes from './guide-steps.module.css'
import type { GuideStep, GuideValue } from './guides/guide.ts'

export function GuideSteps({ steps }: { readonly steps: readonly GuideStep[] }) {
  return (
    <ol className={classes.steps}>
      {steps.map(({ title, text, values = [], code }) => (
        <li key={title} className={classes.step}>
          <div className={classes.content}>
            <h3 className={classes.title}>{title}</h3>
            <p className={classes.text}>{text}</p>
            {values.length === 0 ? null : <Values values={values} />}
            {code === undefined ? null : <CodeBlock name={code.name} value={code.value} />}
          </div>
        </li>
      ))}
    </ol>
  )
}

function Values({ values }: { readonly values: readonly GuideValue[] }) {
  return (
    <dl className={classes.values}>
      {values.flatMap(({ label, value, isSecret }) => [
        <dt key={`${label} ${value} name`}>{label}</dt>,
        <dd key={`${label} ${value}`}>
          {isSecret === true ? (
            <Secret name={label} value={value} />
          ) : (
            <Copyable value={value} isWhole />
          )}
        </dd>,
      ])}
    </dl>
  )
}
