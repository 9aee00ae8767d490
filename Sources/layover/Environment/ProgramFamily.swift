import ArgumentParser

/// Programs that take a base URL from the same variables.
enum ProgramFamily: String, CaseIterable, ExpressibleByArgument {
    case openai
    case azureOpenAI = "azure-openai"
    case anthropic, ollama, huggingface
    case aws, python, npm, go, cargo

    /// The family whose programs speak to this host by default. Nil: no family is known for the host.
    init?(host: String, port: Int) {
        switch host {
        case "api.openai.com": self = .openai
        case "api.anthropic.com": self = .anthropic
        case "huggingface.co": self = .huggingface
        case "pypi.org", "test.pypi.org": self = .python
        case "registry.npmjs.org": self = .npm
        case "proxy.golang.org": self = .go
        case "index.crates.io": self = .cargo
        case _ where host.hasSuffix(".openai.azure.com"): self = .azureOpenAI
        case _ where host.hasSuffix(".amazonaws.com") || host.hasSuffix(".amazonaws.com.cn"): self = .aws
        case _ where port == 11434: self = .ollama
        default: return nil
        }
    }

    /// What stands in the URL that the programs take, behind the origin of a server of their own kind.
    var path: String {
        switch self {
        case .openai: "/v1"
        case .python: "/simple"
        case .npm, .cargo: "/"
        case .azureOpenAI, .anthropic, .ollama, .huggingface, .aws, .go: ""
        }
    }
}
