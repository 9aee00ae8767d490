import LayoverText

extension LoadedConfiguration {
    /// One line for each key, with its value as a file would spell it and its source; secrets are masked:
    /// `log.level = "info" (default)`.
    package var listing: String {
        entries.map { "\($0.path) = \($0.value.text) (\(EscapedText.visible($0.source.description)))" }
            .joined(separator: "\n")
    }
}
