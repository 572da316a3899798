/** The file of a child process, by its path in src/ without the extension: TypeScript in a checkout, JavaScript in a build. */
export function programUrl(path: string): URL {
  return new URL(`${path}${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url);
}
