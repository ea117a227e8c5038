"""Where captured spans go: one module per destination, each a handler that takes spans as they end.

An exporter belongs here when it takes spans from a running application and hands them on: to memory, to a file of
OTLP lines. It may use what reads traces, and nothing that judges, stores or shows results; the rest of the package
finds it by entry point and never imports it. Import it as `pixie_otel.exporters`.
"""
