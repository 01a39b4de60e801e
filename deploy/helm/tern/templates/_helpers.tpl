{{- define "tern.name" -}}
{{- if contains "tern" .Release.Name }}{{ .Release.Name | trunc 63 }}{{ else }}{{ printf "%s-tern" .Release.Name | trunc 63 }}{{ end }}
{{- end }}

{{- define "tern.selector" -}}
app.kubernetes.io/name: tern
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "tern.labels" -}}
{{ include "tern.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "tern.account" -}}
{{- if .Values.serviceAccount.create }}{{ .Values.serviceAccount.name | default (include "tern.name" .) }}{{ else }}{{ .Values.serviceAccount.name | default "default" }}{{ end }}
{{- end }}

{{- define "tern.config" -}}
repository:
  {{- toYaml .Values.repositories | nindent 2 }}
model-control: {{ .Values.modelControl }}
repository-cache: /var/cache/tern
repository-cache-bytes: {{ .Values.cache.bytes }}
exit-timeout-secs: {{ .Values.exitTimeout }}
{{- with .Values.settings }}
{{ toYaml . }}
{{- end }}
{{- end }}
