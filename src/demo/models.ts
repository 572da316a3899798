/** The models that the demo's sessions talk to, and what they cost there. The prices are invented. */
export interface Model {
  readonly provider: string;
  readonly baseUrl: string;
  readonly mode: string;
  /** Dollars for a million tokens; null when nobody knows the price. */
  readonly price: { readonly input: number; readonly output: number } | null;
}

const MODELS: Readonly<Record<string, Model>> = {
  'anthropic/claude-opus-4': route('anthropic', 'https://api.anthropic.example', 'api_key', 15, 75),
  'anthropic/claude-sonnet-4.5': route('anthropic', 'https://api.anthropic.example', 'api_key', 3, 15),
  'openai/gpt-5': route('openrouter', 'https://router.example/api/v1', 'api_key', 1.25, 10),
  'openai/gpt-5-mini': route('openrouter', 'https://router.example/api/v1', 'api_key', 0.25, 2),
  'google/gemini-2.5-pro': route('openrouter', 'https://router.example/api/v1', 'api_key', 1.25, 10),
  'nous/hermes-4-405b': route('nous', 'https://inference.nous.example/v1', 'subscription', 1, 3),
  'local/qwen3-32b': { provider: 'local', baseUrl: 'http://127.0.0.1:8080/v1', mode: '', price: null },
};

const UNKNOWN_MODEL: Model = { provider: '', baseUrl: '', mode: '', price: null };

/** How a model is reached and billed; one that isn't in the list has no known price. */
export function modelNamed(name: string): Model {
  return MODELS[name] ?? UNKNOWN_MODEL;
}

function route(provider: string, baseUrl: string, mode: string, input: number, output: number): Model {
  return { provider, baseUrl, mode, price: { input, output } };
}
