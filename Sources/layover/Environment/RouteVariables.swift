import ArgumentParser

/// The variables with which programs take the base URL of a route.
struct RouteVariables: Equatable {
    struct Variable: Equatable {
        var name: String
        var value: String
    }

    var variables: [Variable] = []
    /// Notes to read before the variables are used, as sentences.
    var notes: [String] = []

    /// - Parameters:
    ///   - route: The name of the route.
    ///   - base: Its base URL, without a slash at the end.
    ///   - host: The host of its upstream, in lower case.
    ///   - path: The path of its upstream: empty, or begins with a slash and does not end with one.
    ///   - family: The family of the programs. Nil: the host decides.
    init(route: String, base: String, host: String, port: Int, path: String, family: ProgramFamily?) {
        guard let family = family ?? ProgramFamily(host: host, port: port) else {
            add("LAYOVER_ROUTE_URL", base)
            let names = ProgramFamily.allCases.map(\.rawValue).joined(separator: ", ")
            notes = ["\(host) is no server whose programs are known, so this is only the base URL; choose them with --for: \(names)"]
            return
        }
        // An upstream with a path says itself where the programs begin.
        let isPartOfIt = family.path.hasPrefix(path)
        let url = base + (isPartOfIt ? String(family.path.dropFirst(path.count)) : "")
        switch family {
        case .openai: add("OPENAI_BASE_URL", url)
        case .azureOpenAI: add("AZURE_OPENAI_ENDPOINT", url)
        case .anthropic: add("ANTHROPIC_BASE_URL", url)
        case .ollama: add("OLLAMA_HOST", url)
        case .huggingface: add("HF_ENDPOINT", url)
        case .aws: addAWS(url, host)
        case .python:
            add("PIP_INDEX_URL", url)
            add("UV_DEFAULT_INDEX", url)
            if host.hasSuffix("pypi.org") {
                notes.append(
                    "the index names files on files.pythonhosted.org, which do not come by the route; for them use the proxy variables")
            }
        case .npm:
            add("npm_config_registry", url.hasSuffix("/") ? url : url + "/")
            // npm does so by itself for the names of its own registry.
            if host != "registry.npmjs.org" { add("npm_config_replace_registry_host", "always") }
        case .go: add("GOPROXY", url)
        case .cargo:
            let name = Self.variablePart(route)
            add("CARGO_REGISTRIES_\(name)_INDEX", "sparse+" + (url.hasSuffix("/") ? url : url + "/"))
            notes.append(
                "cargo takes a replacement for crates.io from no variable; add "
                    + "--config 'source.crates-io.replace-with=\"\(route)\"' to its command line")
        }
    }

    private mutating func add(_ name: String, _ value: String) { variables.append(Variable(name: name, value: value)) }

    private mutating func addAWS(_ url: String, _ host: String) {
        let isAmazon = host.hasSuffix(".amazonaws.com") || host.hasSuffix(".amazonaws.com.cn")
        let service = host.prefix { $0 != "." }
        let known = ["s3": "S3", "dynamodb": "DYNAMODB", "sqs": "SQS", "sns": "SNS", "sts": "STS", "lambda": "LAMBDA", "kms": "KMS"]
        add("AWS_ENDPOINT_URL" + (isAmazon ? known[String(service)].map { "_" + $0 } ?? "" : ""), url)
        guard isAmazon else { return }
        notes.append(
            "AWS refuses signed requests that come by a base URL, because the signature covers host and path; use the proxy variables "
                + "for them, and this for requests without a signature")
    }

    /// A name in capitals, as variables have it: what is neither letter nor digit becomes an underscore.
    private static func variablePart(_ name: String) -> String {
        String(name.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? Character($0.uppercased()) : "_" })
    }
}

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
