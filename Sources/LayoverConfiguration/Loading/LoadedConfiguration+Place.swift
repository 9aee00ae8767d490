extension LoadedConfiguration {
    /// The same, with the store in this folder if `store.path` is null.
    package func storing(in folder: String) -> LoadedConfiguration {
        var settings = settings
        settings.store.standardFolder = folder
        return LoadedConfiguration(
            settings: settings, entries: entries, warnings: warnings, policies: policies, routes: routes)
    }

    /// The same, with one more warning.
    package func warning(_ text: String) -> LoadedConfiguration {
        LoadedConfiguration(
            settings: settings, entries: entries, warnings: warnings + [text], policies: policies, routes: routes)
    }
}
