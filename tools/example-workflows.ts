import { buildGithubWorkflows, buildGitlabPipeline } from '../src/cli/init/workflows.ts'
import { pinForms } from '../src/cli/init/choose-pin.ts'
import { collectVariables } from '../src/cli/init/workflow-variables.ts'

/** Builds the workflows of a workspace in the top folder of its repository, with placeholders. */
export function buildExamples(): Record<string, string> {
  const placement = { workspace: '.', branch: 'main' }
  const workflows = Object.entries(
    buildGithubWorkflows(
      { host: 'github', reference: pinForms.github },
      placement,
      collectVariables({}, 'github').variables,
    ),
  ).map(([path, text]) => [path.replace('.github/workflows', 'examples/github'), text])
  return {
    ...(Object.fromEntries(workflows) as Record<string, string>),
    'examples/gitlab/.gitlab-ci.yml': buildGitlabPipeline(
      { host: 'gitlab', reference: pinForms.gitlab },
      placement,
      collectVariables({}, 'gitlab').variables,
    ),
  }
}
