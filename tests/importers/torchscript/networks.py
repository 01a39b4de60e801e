"""Small networks of common architectures, with random weights."""

import math
from typing import Dict, List, Optional, Tuple

import torch
import torch.nn.functional as F
from torch import nn


class BasicBlock(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.downsample: Optional[nn.Module] = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        identity = x
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        if self.downsample is not None:
            identity = self.downsample(x)
        out += identity
        return self.relu(out)


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 7, 2, 3, bias=False), nn.BatchNorm2d(8), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1))
        self.layers = nn.Sequential(BasicBlock(8, 8, 1), BasicBlock(8, 16, 2), BasicBlock(16, 16, 1))
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(16, 10)

    def forward(self, x):
        x = self.avgpool(self.layers(self.stem(x)))
        return self.fc(torch.flatten(x, 1))


class InvertedResidual(nn.Module):
    def __init__(self, channels, expand):
        super().__init__()
        hidden = channels * expand
        self.body = nn.Sequential(
            nn.Conv2d(channels, hidden, 1), nn.BatchNorm2d(hidden), nn.Hardswish(),
            nn.Conv2d(hidden, hidden, 3, 1, 1, groups=hidden), nn.BatchNorm2d(hidden), nn.ReLU6(),
            nn.Conv2d(hidden, channels, 1), nn.BatchNorm2d(channels))  # fmt: skip
        self.squeeze = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(channels, 2, 1), nn.ReLU(), nn.Conv2d(2, channels, 1), nn.Hardsigmoid())

    def forward(self, x):
        y = self.body(x)
        return x + y * self.squeeze(y)


class MobileNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), InvertedResidual(8, 2), InvertedResidual(8, 3))
        self.head = nn.Sequential(nn.Dropout(0.2), nn.Linear(8, 5))

    def forward(self, x):
        x = self.features(x)
        return self.head(x.mean([2, 3]))


class DenseNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.convs = nn.ModuleList([nn.Conv2d(3 + 4 * i, 4, 3, padding=1) for i in range(3)])

    def forward(self, x):
        features: List[torch.Tensor] = [x]
        for conv in self.convs:
            features.append(F.relu(conv(torch.cat(features, 1))))
        return torch.cat(features, 1)


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down1 = nn.Conv2d(1, 4, 3, padding=1)
        self.down2 = nn.Conv2d(4, 8, 3, padding=1)
        self.up = nn.ConvTranspose2d(8, 4, 2, stride=2)
        self.out = nn.Conv2d(8, 2, 3, padding=1)

    def forward(self, x):
        a = F.relu(self.down1(x))
        b = F.relu(self.down2(F.max_pool2d(a, 2)))
        c = self.up(b)
        dy, dx = a.size(2) - c.size(2), a.size(3) - c.size(3)
        c = F.pad(c, [dx // 2, dx - dx // 2, dy // 2, dy - dy // 2])
        y = self.out(torch.cat([a, c], dim=1))
        return F.interpolate(y, scale_factor=2.0, mode="bilinear", align_corners=False)


class Detector(nn.Module):
    """Grids and anchors, as in YOLO."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 2 * 7, 3, 4, 1)
        self.register_buffer("anchors", torch.tensor([[1.0, 2.0], [3.0, 1.5]]))

    def forward(self, x):
        y = self.conv(x)
        b, _, h, w = y.shape
        y = y.view(b, 2, 7, h, w).permute(0, 1, 3, 4, 2).contiguous().sigmoid()
        gy, gx = torch.meshgrid(torch.arange(h), torch.arange(w), indexing="ij")
        grid = torch.stack((gx, gy), 2).view(1, 1, h, w, 2).float()
        xy = (y[..., 0:2] * 2.0 - 0.5 + grid) * 4
        wh = (y[..., 2:4] * 2) ** 2 * self.anchors.view(1, 2, 1, 1, 2)
        return torch.cat((xy, wh, y[..., 4:]), -1).view(b, -1, 7)


class SelfAttention(nn.Module):
    def __init__(self, size, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(size, 3 * size)
        self.out = nn.Linear(size, size)
        self.register_buffer("mask", torch.tril(torch.ones(32, 32)).view(1, 1, 32, 32))

    def forward(self, x):
        b, t, c = x.size()
        q, k, v = self.qkv(x).split(c, dim=2)
        q = q.view(b, t, self.heads, c // self.heads).transpose(1, 2)
        k = k.view(b, t, self.heads, c // self.heads).transpose(1, 2)
        v = v.view(b, t, self.heads, c // self.heads).transpose(1, 2)
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = att.masked_fill(self.mask[:, :, :t, :t] == 0, float("-inf"))
        y = (F.softmax(att, dim=-1) @ v).transpose(1, 2).contiguous().view(b, t, c)
        return self.out(y)


class GptBlock(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(size), nn.LayerNorm(size)
        self.attn = SelfAttention(size, 2)
        self.mlp = nn.Sequential(nn.Linear(size, 4 * size), nn.GELU(approximate="tanh"), nn.Linear(4 * size, size))

    def forward(self, x):
        x = x + self.attn(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(20, 8), nn.Embedding(32, 8)
        self.blocks = nn.ModuleList([GptBlock(8) for _ in range(2)])
        self.head = nn.Linear(8, 20, bias=False)

    def forward(self, ids):
        positions = torch.arange(0, ids.size(1), dtype=torch.long, device=ids.device).unsqueeze(0)
        x = self.tokens(ids) + self.positions(positions)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


class Bert(nn.Module):
    def __init__(self):
        super().__init__()
        self.word, self.kind, self.position = nn.Embedding(30, 8, padding_idx=0), nn.Embedding(2, 8), nn.Embedding(16, 8)
        self.norm = nn.LayerNorm(8, eps=1e-12)
        self.query, self.key, self.value, self.dense = (nn.Linear(8, 8) for _ in range(4))
        self.register_buffer("position_ids", torch.arange(16).expand((1, -1)))

    def heads(self, x):
        return x.view(x.size()[:-1] + (2, 4)).permute(0, 2, 1, 3)

    def forward(self, input_ids, attention_mask, token_type_ids):
        n = input_ids.size(1)
        x = self.norm(self.word(input_ids) + self.kind(token_type_ids) + self.position(self.position_ids[:, :n]))
        mask = (1.0 - attention_mask[:, None, None, :].to(x.dtype)) * torch.finfo(torch.float32).min
        scores = torch.matmul(self.heads(self.query(x)), self.heads(self.key(x)).transpose(-1, -2)) / 2.0
        y = torch.matmul(F.softmax(scores + mask, dim=-1), self.heads(self.value(x)))
        y = y.permute(0, 2, 1, 3).contiguous()
        y = self.dense(y.view(y.size()[:-2] + (8,)))
        return {"last_hidden_state": y, "pooler_output": torch.tanh(y[:, 0])}


class ScriptBert(Bert):
    """The compiler needs lists instead of tuples."""

    def heads(self, x):
        return x.view(x.size(0), x.size(1), 2, 4).permute(0, 2, 1, 3)

    def forward(self, input_ids, attention_mask, token_type_ids) -> Dict[str, torch.Tensor]:
        n = input_ids.size(1)
        x = self.norm(self.word(input_ids) + self.kind(token_type_ids) + self.position(self.position_ids[:, :n]))
        mask = (1.0 - attention_mask[:, None, None, :].to(x.dtype)) * -1e9
        scores = torch.matmul(self.heads(self.query(x)), self.heads(self.key(x)).transpose(-1, -2)) / 2.0
        y = torch.matmul(F.softmax(scores + mask, dim=-1), self.heads(self.value(x)))
        y = y.permute(0, 2, 1, 3).contiguous()
        y = self.dense(y.flatten(2))
        return {"last_hidden_state": y, "pooler_output": torch.tanh(y[:, 0])}


class VisionTransformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch = nn.Conv2d(3, 8, 4, 4)
        self.token = nn.Parameter(torch.randn(1, 1, 8))
        self.position = nn.Parameter(torch.randn(1, 17, 8))
        layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, activation="gelu", norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(8, 4)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.size(0), -1, -1), x], dim=1) + self.position
        return self.head(self.encoder(x)[:, 0])


class TextCnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(30, 6)
        self.convs = nn.ModuleList([nn.Conv1d(6, 4, k) for k in (2, 3, 4)])
        self.fc = nn.Linear(12, 3)

    def forward(self, ids):
        x = self.embedding(ids).transpose(1, 2)
        pooled = [F.relu(conv(x)).max(dim=2)[0] for conv in self.convs]
        return F.log_softmax(self.fc(torch.cat(pooled, dim=1)), dim=1)


class Tagger(nn.Module):
    """Embedding, bidirectional LSTM and a linear layer."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(30, 6)
        self.lstm = nn.LSTM(6, 5, bidirectional=True, batch_first=True)
        self.fc = nn.Linear(10, 4)

    def forward(self, ids) -> Tuple[torch.Tensor, torch.Tensor]:
        y, (h, c) = self.lstm(self.embedding(ids))
        scores = self.fc(y)
        return scores, scores.argmax(-1)


class Seq2Seq(nn.Module):
    """A GRU encoder and a greedy decoder with attention."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(12, 6)
        self.encoder = nn.GRU(6, 6, batch_first=True)
        self.cell = nn.GRUCell(6, 6)
        self.out = nn.Linear(12, 12)

    def forward(self, ids, steps: int):
        memory, hidden = self.encoder(self.embedding(ids))
        h = hidden[0]
        token = torch.zeros(ids.size(0), dtype=torch.long)
        tokens: List[torch.Tensor] = []
        for _ in range(steps):
            h = self.cell(self.embedding(token), h)
            weights = torch.softmax(torch.bmm(memory, h.unsqueeze(2)).squeeze(2), dim=1)
            context = torch.bmm(weights.unsqueeze(1), memory).squeeze(1)
            token = self.out(torch.cat([h, context], dim=1)).argmax(dim=1)
            tokens.append(token)
        return torch.stack(tokens, dim=1)


class WaveNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.convs = nn.ModuleList([nn.Conv1d(4, 8, 2, dilation=2**i) for i in range(3)])
        self.skips = nn.ModuleList([nn.Conv1d(4, 4, 1) for _ in range(3)])

    def forward(self, x):
        total: Optional[torch.Tensor] = None
        for conv, skip in zip(self.convs, self.skips):
            y = conv(x)
            a, b = y.chunk(2, dim=1)
            y = torch.tanh(a) * torch.sigmoid(b)
            s = skip(y)
            total = s if total is None else total[:, :, -s.size(2) :] + s
            x = x[:, :, -y.size(2) :] + y
        assert total is not None
        return F.relu(total)


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Conv2d(1, 4, 3, 2, 1), nn.LeakyReLU(0.2), nn.Flatten(), nn.Linear(64, 6))
        self.dec = nn.Sequential(nn.Linear(3, 64), nn.Unflatten(1, (4, 4, 4)), nn.ConvTranspose2d(4, 1, 4, 2, 1), nn.Sigmoid())

    def forward(self, x):
        mean, log = self.enc(x).chunk(2, 1)
        return self.dec(mean), mean, torch.exp(0.5 * log)


class PointNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.mlp = nn.Sequential(nn.Conv1d(3, 8, 1), nn.BatchNorm1d(8), nn.ReLU())
        self.transform = nn.Linear(8, 9)

    def forward(self, points):
        b = points.size(0)
        features = self.mlp(points.transpose(2, 1)).max(2)[0]
        matrix = self.transform(features).view(b, 3, 3) + torch.eye(3).unsqueeze(0).repeat(b, 1, 1)
        return torch.bmm(points, matrix)


class Recommender(nn.Module):
    """Embedding bags and pairwise products, as in DLRM."""

    def __init__(self):
        super().__init__()
        self.bottom = nn.Sequential(nn.Linear(4, 6), nn.ReLU())
        self.tables = nn.ModuleList([nn.Embedding(10, 6) for _ in range(3)])
        self.top = nn.Linear(6 + 6, 1)

    def forward(self, dense, sparse):
        x = self.bottom(dense)
        rows = [x] + [table(sparse[:, i]) for i, table in enumerate(self.tables)]
        stack = torch.stack(rows, dim=1)
        products = torch.bmm(stack, stack.transpose(1, 2))
        i, j = torch.tril_indices(4, 4, offset=-1)
        return torch.sigmoid(self.top(torch.cat([x, products[:, i, j]], dim=1)))


class ScriptRecommender(Recommender):
    def forward(self, dense, sparse):
        x = self.bottom(dense)
        rows: List[torch.Tensor] = [x]
        for i, table in enumerate(self.tables):
            rows.append(table(sparse[:, i]))
        stack = torch.stack(rows, dim=1)
        products = torch.bmm(stack, stack.transpose(1, 2))
        at = torch.tril_indices(4, 4, offset=-1)
        return torch.sigmoid(self.top(torch.cat([x, products[:, at[0], at[1]]], dim=1)))


class Spectrogram(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.hann_window(16))
        self.register_buffer("mel", torch.rand(9, 5))

    def forward(self, x):
        frames = x.unfold(1, 16, 8) * self.window
        power = torch.fft.rfft(frames, dim=-1).abs() ** 2
        return torch.log(torch.clamp(power @ self.mel, min=1e-5))


class Swin(nn.Module):
    """Windows and cyclic shifts."""

    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(6, 6)

    def forward(self, x):
        b, h, w, c = x.shape
        x = torch.roll(x, shifts=(-1, -1), dims=(1, 2))
        x = x.view(b, h // 2, 2, w // 2, 2, c).permute(0, 1, 3, 2, 4, 5).reshape(-1, 4, c)
        x = F.normalize(self.proj(x), dim=-1)
        x = x.view(b, h // 2, w // 2, 2, 2, c).permute(0, 1, 3, 2, 4, 5).reshape(b, h, w, c)
        return torch.roll(x, shifts=(1, 1), dims=(1, 2))


class MixtureOfExperts(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(6, 3)
        self.experts = nn.ModuleList([nn.Linear(6, 4) for _ in range(3)])

    def forward(self, x):
        values, indices = torch.topk(self.gate(x), 2, dim=-1)
        weights = torch.zeros(x.size(0), 3).scatter(1, indices, F.softmax(values, dim=-1))
        outs: List[torch.Tensor] = []
        for expert in self.experts:
            outs.append(expert(x))
        return (torch.stack(outs, dim=1) * weights.unsqueeze(-1)).sum(1)


class Nms(nn.Module):
    """Suppression of overlapping boxes in a loop over tensors."""

    def forward(self, boxes, scores):
        order = torch.argsort(scores, descending=True)
        boxes = boxes[order]
        area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
        keep = torch.ones(boxes.size(0), dtype=torch.bool)
        for i in range(boxes.size(0)):
            if bool(keep[i]):
                top = torch.max(boxes[i, :2], boxes[:, :2])
                low = torch.min(boxes[i, 2:], boxes[:, 2:])
                inter = (low - top).clamp(min=0.0).prod(1)
                iou = inter / (area[i] + area - inter)
                bad = (iou > 0.5) & (torch.arange(boxes.size(0)) > i)
                keep = keep & ~bad
        return order[keep]
